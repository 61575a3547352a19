import type { ChatEvent } from '../../core/chat/chat-event.js';
import { randomId } from '../../core/chat/context.js';
import { TurnLogError } from '../../core/errors/errors.js';
import {
  CHECKED_APART,
  checkOption,
  checkOptions,
  FUNCTION,
  ID,
  numberBetween,
  required,
  rule,
  withMethods,
} from '../../core/internal/options.js';
import { notify } from '../../core/internal/notify.js';
import type { BegunRun } from '../../stores/turn-logs/turn-log.js';
import { eventsOf, type EventSource } from '../http/event-source.js';
import { printError, toHttpError } from '../http/http-error.js';
import { readInput } from '../http/request-input.js';
import { ContinuedTurn } from './continued-turn.js';
import { decodeEntry } from './event-codec.js';
import { parseEventId } from './event-id.js';
import { LogWatch } from './log-watch.js';
import { LoggedEvents } from './logged-events.js';
import type { LogSettings } from './log-settings.js';
import { TurnRun } from './turn-run.js';
import type {
  ResumeTurnOptions,
  StartTurnOptions,
  TurnOwner,
  TurnStreamsOptions,
} from './turn-streams-options.js';

const WHERE = 'TurnStreams';
const TIME = numberBetween(100, 1e10);
const RULES = {
  log: required(withMethods('a TurnLog, such as an InMemoryTurnLog', 'begin', 'append', 'read', 'stop')), // prettier-ignore
  ttl: TIME,
  lease: numberBetween(100, 2 ** 31 - 1),
  recovery: numberBetween(0, 2 ** 31 - 1),
  writeInterval: numberBetween(0, 10_000),
  toError: FUNCTION,
  onError: FUNCTION,
};
const OWNER = rule(
  'an id of at most 250 characters',
  (owner) => ID.accepts(owner) && (owner as string).length <= 250,
);
/** Entries of one read of a log that is continued. */
const LIMIT = 500;

/** A run that was started here. */
export class StartedTurn extends LoggedEvents {
  /** Resolves when the run has ended and is logged, for `waitUntil` of a serverless platform; never rejects. */
  readonly ended: Promise<void>;

  constructor(ended: Promise<void>, ...events: ConstructorParameters<typeof LoggedEvents>) {
    super(...events);
    this.ended = ended;
  }
}

/**
 * Streams that resume: runs are read to their end and logged, whatever their readers do, and any
 * process with the same log can read them, from any event on, and stop them.
 *
 * The key of a run is its id, or the id of its conversation if that has one run at a time.
 */
export class TurnStreams {
  private readonly settings: LogSettings;
  /** Runs of this process by their keys in the log. */
  private readonly runs = new Map<string, TurnRun>();

  /** @throws {@link InvalidArgumentError} if an option breaks its rule */
  constructor(options: TurnStreamsOptions) {
    checkOptions(WHERE, options, RULES);
    const { log, ttl = 600_000, lease = 10_000, recovery = 60_000, writeInterval = 25 } = options;
    const { toError = toHttpError, onError = printError } = options;
    const watch = new LogWatch();
    this.settings = { log, watch, ttl, lease, recovery, writeInterval, toError, onError };
  }

  /**
   * Starts a run and logs it to its end. Resolves with its events, for `toResponse`, when the log is
   * begun: for a durable turn that another process has begun, when the lease of that is over.
   * @throws {@link TurnLogError} if another run is under way under the key (status 409), or the store
   *   has failed; {@link InvalidArgumentError} if an argument is invalid. Nothing has run.
   */
  async start(
    key: string,
    stream: EventSource,
    options: StartTurnOptions = {},
  ): Promise<StartedTurn> {
    checkOptions(`${WHERE}.start`, options, { owner: OWNER, turnId: ID });
    const logKey = logKeyOf('start', key, options);
    const events = eventsOf(stream);
    const writer = randomId();
    const { turnId } = options;
    const begun = await this.begin(key, logKey, writer, turnId);
    const continued = turnId === undefined ? undefined : await this.readTurn(logKey, begun);
    const ended =
      begun.state === 'complete'
        ? this.drain(events)
        : this.logRun(logKey, events, { ...begun, key: logKey, writer }, continued);
    return new StartedTurn(ended, this.readRun(key, logKey, begun.generation), this.settings);
  }

  /**
   * The events of a run after one that the client has; undefined if there is no such run, or the client
   * has all of it: answer with status 204, after which an `EventSource` does not connect again.
   * @throws {@link InvalidArgumentError}, which is answered by 400, if no event has such an id;
   *   {@link TurnLogError} if the store has failed
   */
  async resume(key: string, options: ResumeTurnOptions = {}): Promise<LoggedEvents | undefined> {
    checkOptions(`${WHERE}.resume`, options, { owner: OWNER, lastEventId: CHECKED_APART });
    const { lastEventId } = options;
    const logKey = logKeyOf('resume', key, options);
    const seen = lastEventId ? parseEventId(lastEventId) : undefined;
    const after = Math.max(0, (seen?.position ?? 0) - 1);
    const position = { generation: seen?.generation, after, limit: 1 };
    const page = await this.settings.log.read(logKey, position);
    if (!page) return undefined;
    const [entry] = page.entries;
    if (seen?.frames === Infinity && seen.position > 0 && isEnd(entry)) return undefined;
    return new LoggedEvents(this.readRun(key, logKey, page.generation, seen), this.settings);
  }

  /**
   * Cancels a run, also one of another process; resolves with false if there is none. A run of another
   * process stops at its next write, at most a second later.
   * @throws {@link TurnLogError} if the store has failed
   */
  async stop(key: string, options: TurnOwner = {}): Promise<boolean> {
    checkOptions(`${WHERE}.stop`, options, { owner: OWNER });
    const logKey = logKeyOf('stop', key, options);
    const own = this.runs.get(logKey);
    if (own) {
      own.stop();
      return true;
    }
    const { log } = this.settings;
    const page = await log.read(logKey, { after: 0, limit: 1 });
    return page !== undefined && log.stop(logKey, page.generation);
  }

  /** @throws {@link TurnLogError} if the lease of another writer lasts */
  private async begin(
    key: string,
    logKey: string,
    writer: string,
    turnId: string | undefined,
  ): Promise<BegunRun> {
    const { log, lease, ttl } = this.settings;
    // a process that lives renews its lease within that time
    const end = performance.now() + (turnId === undefined ? 0 : 1.5 * lease);
    for (;;) {
      const begun = await log.begin(logKey, { writer, turnId, lease, ttl });
      if (begun.state !== 'running') return begun;
      if (performance.now() >= end) throw new TurnLogError({ reason: 'running', key });
      await new Promise((resolve) => setTimeout(resolve, Math.min(lease / 10, 250)));
    }
  }

  private async readTurn(logKey: string, { generation, length }: BegunRun): Promise<ContinuedTurn> {
    const events: ChatEvent[] = [];
    for (let after = 0; after < length;) {
      const page = await this.settings.log.read(logKey, { generation, after, limit: LIMIT });
      if (!page || page.entries.length === 0) break;
      after += page.entries.length;
      for (const entry of page.entries.map(decodeEntry))
        if (entry.type !== 'log-end' && entry.type !== 'log-error') events.push(entry);
    }
    return new ContinuedTurn(events);
  }

  private logRun(
    logKey: string,
    events: AsyncIterator<ChatEvent>,
    logged: ConstructorParameters<typeof TurnRun>[1],
    continued: ContinuedTurn | undefined,
  ): Promise<void> {
    const run = new TurnRun(events, logged, this.settings, continued);
    this.runs.set(logKey, run);
    return run.log().then(() => {
      if (this.runs.get(logKey) === run) this.runs.delete(logKey);
    });
  }

  /** Runs a turn whose log is complete to its end. */
  private async drain(events: AsyncIterator<ChatEvent>): Promise<void> {
    try {
      while (!(await events.next()).done);
    } catch (error) {
      const { toError, onError } = this.settings;
      notify(() => onError(error, toError(error)));
    }
  }

  private readRun(
    key: string,
    logKey: string,
    generation: number,
    seen?: ReturnType<typeof parseEventId>,
  ): ConstructorParameters<typeof LoggedEvents>[0] {
    const isOwn = (): boolean => this.runs.has(logKey);
    return { key, logKey, generation, seen, isOwn };
  }
}

/** The key in the log: no two pairs of owner and key have the same. */
function logKeyOf(operation: string, key: string, { owner }: TurnOwner): string {
  readInput(() => checkOption(`${WHERE}.${operation}`, 'key', key, ID)); // it comes from a request
  return owner === undefined ? `-:${key}` : `${owner.length}:${owner}${key}`;
}

function isEnd(entry: string | undefined): boolean {
  const type = entry === undefined ? undefined : decodeEntry(entry).type;
  return type === 'log-end' || type === 'log-error';
}
