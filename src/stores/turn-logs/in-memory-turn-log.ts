import { LimitExceededError } from '../../core/errors/errors.js';
import { checkOptions, integer } from '../../core/internal/options.js';
import { CheckedTurnLog } from './checked-turn-log.js';
import type { BegunRun, LogBatch, LogPage, LogPosition, NewRun } from './turn-log.js';

/** Options of an {@link InMemoryTurnLog}. */
export interface InMemoryTurnLogOptions {
  /**
   * Maximum number of characters of all entries, >= 1. At the limit, logs of ended runs are deleted
   * before their time, the oldest first; without one, entries are refused.
   * @default 100_000_000
   */
  readonly maxCharacters?: number | undefined;
}

interface Run {
  readonly generation: number;
  readonly entries: string[];
}

interface Log extends Run {
  readonly previous: Run | undefined;
  readonly turnId: string | undefined;
  writer: string;
  state: 'running' | 'complete' | 'failed';
  isStopped: boolean;
  /** Ends of the lease and of the log, in milliseconds since the epoch. */
  leaseEnd: number;
  expires: number;
}

/** Keeps the logs of turns in this process: for one process, and for tests. */
export class InMemoryTurnLog extends CheckedTurnLog {
  private readonly logs = new Map<string, Log>();
  private readonly maxCharacters: number;
  private characters = 0;
  private lastGeneration = 0;
  /** Number of logs at which those that have expired are deleted. */
  private cleanAt = 100;

  /** @throws {@link InvalidArgumentError} if an option is out of range */
  constructor(options: InMemoryTurnLogOptions = {}) {
    super();
    checkOptions('InMemoryTurnLog', options, { maxCharacters: integer(1) });
    this.maxCharacters = options.maxCharacters ?? 100_000_000;
  }

  protected beginRun(key: string, { writer, turnId, lease, ttl }: NewRun): BegunRun {
    const now = Date.now();
    const log = this.living(key);
    const isRunning = log?.state === 'running';
    const isOwn = isRunning && log.writer === writer;
    if (isRunning && !isOwn && log.leaseEnd > now) return begun('running', log);
    const isSameTurn = turnId !== undefined && log?.turnId === turnId;
    if (isSameTurn && log.state === 'complete') return begun('complete', log);
    const run = isOwn || (isRunning && isSameTurn) ? log : this.newLog(key, log, turnId);
    run.writer = writer;
    prolong(run, lease, ttl);
    return begun('begun', run);
  }

  protected appendEntries(
    key: string,
    { generation, writer, after, entries, end, lease, ttl }: LogBatch,
  ): { readonly isStopped: boolean } | undefined {
    const log = this.living(key);
    if (log?.generation !== generation || log.writer !== writer) return undefined;
    const { length } = log.entries;
    const { isStopped } = log;
    if (log.state !== 'running')
      return length >= after + entries.length ? { isStopped } : undefined;
    if (length < after) return undefined;
    this.add(log, entries.slice(length - after));
    if (end) log.state = end;
    prolong(log, lease, ttl);
    return { isStopped };
  }

  protected readEntries(
    key: string,
    { generation, after, limit }: LogPosition,
  ): LogPage | undefined {
    const log = this.living(key);
    const isLatest = generation === undefined || generation === log?.generation;
    const run = isLatest ? log : log?.previous;
    if (!log || !run || (!isLatest && run.generation !== generation)) return undefined;
    const sinceLease = log.state === 'running' ? Math.max(0, Date.now() - log.leaseEnd) : 0;
    return {
      generation: run.generation,
      entries: run.entries.slice(after, after + limit),
      turnId: isLatest ? log.turnId : undefined,
      silence: isLatest ? sinceLease : Infinity,
    };
  }

  protected stopRun(key: string, generation: number): boolean {
    const log = this.living(key);
    if (log?.generation !== generation || log.state !== 'running') return false;
    return (log.isStopped = true);
  }

  private newLog(key: string, latest: Log | undefined, turnId: string | undefined): Log {
    if (this.logs.size >= this.cleanAt) this.clean();
    this.lastGeneration = Math.max(this.lastGeneration + 1, Date.now());
    this.delete(key);
    // without the run before the latest one
    const previous = latest && { generation: latest.generation, entries: latest.entries };
    if (previous) this.characters += lengthOf(previous.entries);
    const log: Log = {
      generation: this.lastGeneration,
      entries: [],
      previous,
      turnId,
      writer: '',
      state: 'running',
      isStopped: false,
      leaseEnd: 0,
      expires: 0,
    };
    this.logs.set(key, log);
    return log;
  }

  private add(log: Log, entries: readonly string[]): void {
    const length = lengthOf(entries);
    if (this.characters + length > this.maxCharacters) this.makeRoom(length);
    this.characters += length;
    log.entries.push(...entries);
  }

  /** @throws {@link LimitExceededError} if the logs of runs that last have too many characters */
  private makeRoom(length: number): void {
    this.clean();
    const { maxCharacters: value } = this;
    for (const [key, { state }] of this.logs) {
      if (this.characters + length <= value) return;
      if (state !== 'running') this.delete(key);
    }
    const spent = this.characters + length;
    if (spent <= value) return;
    const details = { limit: 'log-characters', value, spent, option: 'maxCharacters' };
    throw new LimitExceededError(`The turn log has ${value} characters`, details);
  }

  private clean(): void {
    for (const key of this.logs.keys()) this.living(key);
    this.cleanAt = Math.max(100, 2 * this.logs.size);
  }

  private living(key: string): Log | undefined {
    const log = this.logs.get(key);
    if (log && log.expires <= Date.now()) this.delete(key);
    return this.logs.get(key);
  }

  private delete(key: string): void {
    const log = this.logs.get(key);
    if (!log) return;
    this.characters -= lengthOf(log.entries) + lengthOf(log.previous?.entries ?? []);
    this.logs.delete(key);
  }
}

function begun(state: BegunRun['state'], { generation, entries }: Run): BegunRun {
  return { state, generation, length: entries.length };
}

function prolong(log: Log, lease: number, ttl: number): void {
  const isRunning = log.state === 'running';
  log.leaseEnd = Date.now() + lease;
  log.expires = (isRunning ? log.leaseEnd : Date.now()) + ttl;
}

function lengthOf(entries: readonly string[]): number {
  return entries.reduce((sum, { length }) => sum + length, 0);
}
