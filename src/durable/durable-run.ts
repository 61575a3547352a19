import { ContextKey, randomId } from '../chat/context.js';
import { RunSlot } from '../chat/run-slot.js';
import type { RunRecord } from '../chat/run-record.js';
import type { ModelCallRecord } from '../chat/run-report.js';
import type { JsonValue } from '../internal/json.js';
import type { DurableEngine } from './durable-engine.js';

/** In the context of the request of an agent: id of the call of the outer turn that it answers. */
export const OUTER_CALL = new ContextKey<string | undefined>('advisor-chain.outer-call');

const SLOT = new RunSlot<DurableRun>();

/** The durable part of a run: names its steps, and records them with the engine of the turn. */
export class DurableRun {
  /** Number of steps of each name. */
  private readonly counts = new Map<string, number>();
  /** Numbers of steps that have asked a person, by kind. */
  private readonly asked = new Map<string, number>();
  /** Recording that must end before another step begins. */
  private before: Promise<unknown> | undefined;
  /** Nested turns that have steps of their own, by their calls. */
  private nested: Map<string, DurableRun> | undefined;
  /** Calls whose step is running. */
  private readonly running = new Set<object>();
  /** Model calls within tool calls that are steps, by call. */
  private ledgers: Map<string, ModelCallRecord[]> | undefined;
  /** Steps of calls that an earlier execution has begun, and not ended. */
  readonly interrupted = new Set<string>();
  private recordedSecret: Promise<string> | undefined;
  /** Ids of the calls whose results are recorded ones. */
  private replayed: Set<string> | undefined;

  private constructor(
    readonly engine: DurableEngine,
    private readonly prefix: string,
  ) {}

  /** Makes a run durable: its steps are recorded from now on. */
  static begin(run: RunRecord, engine: DurableEngine): DurableRun {
    return SLOT.set(run, new DurableRun(engine, ''));
  }

  /** Undefined if the run is not durable. */
  static of(run: RunRecord): DurableRun | undefined {
    return SLOT.get(run);
  }

  /**
   * Makes the run of a nested turn a part of the outer one: its steps are steps of the outer turn.
   * @param key the call of the outer turn that the nested one is in, or its id; see {@link addNested}
   */
  static beginNested(run: RunRecord, key: string | undefined): DurableRun | undefined {
    const nested =
      key === undefined ? undefined : run.parent && DurableRun.of(run.parent)?.nested?.get(key);
    return nested && SLOT.set(run, nested);
  }

  /**
   * A name for a step: that of its kind, and a number if the turn has used it before. Steps of one
   * kind must begin in the same order when the turn runs again.
   */
  nameOf(kind: string): string {
    const count = this.countOf(kind) + 1;
    this.counts.set(kind, count);
    return this.nameAt(kind, count);
  }

  /** The name of a step of a kind by its number, from 1. */
  nameAt(kind: string, number: number): string {
    return number === 1 ? this.prefix + kind : `${this.prefix}${kind} #${number}`;
  }

  /** Number of steps of a kind so far. */
  countOf(kind: string): number {
    return this.counts.get(kind) ?? 0;
  }

  /** Number of attempts of a tool call so far; a step that has asked a person is none of its own. */
  attemptOf(kind: string): number {
    return this.countOf(kind) - (this.asked.get(kind) ?? 0);
  }

  /** Lets the next step of a kind go on with an interrupted call, about which a person is asked. */
  noteAsked(kind: string): void {
    this.asked.set(kind, (this.asked.get(kind) ?? 0) + 1);
    this.interrupted.add(this.nameAt(kind, this.countOf(kind) + 1));
  }

  /** Runs a step under a name of {@link nameOf}. */
  stepOf<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    const { before, engine } = this;
    return before ? before.then(() => engine.step(name, run)) : engine.step(name, run);
  }

  step<T extends JsonValue>(kind: string, run: () => Promise<T>): Promise<T> {
    return this.stepOf(this.nameOf(kind), run);
  }

  /** Waits, across restarts, from the first time that the turn came here. */
  sleep(kind: string, milliseconds: number): Promise<void> {
    return this.engine.sleep(this.nameOf(kind), milliseconds);
  }

  /**
   * A random text that is the same whenever the turn runs again, for ids that are sent to the model and
   * that authors of results cannot guess. It is recorded when it is first used.
   * @param call undefined outside of tool calls
   * @returns undefined within a step: what it makes is recorded with it
   */
  async secret(call?: object): Promise<string | undefined> {
    if (call && this.running.has(call)) return undefined;
    this.recordedSecret ??= this.stepOf(`${this.prefix}secret`, async () => randomId());
    return this.recordedSecret;
  }

  /** Lets later steps begin when this recording has ended, however it ends. */
  holdUntil(recorded: Promise<unknown>): void {
    const settled = recorded.then(
      () => undefined,
      () => undefined,
    );
    this.before = Promise.all([this.before, settled]);
  }

  /**
   * Lets a nested turn have steps of its own under a name.
   * @param key the call or the turn, by which {@link beginNested} finds it
   */
  addNested(key: string, name: string): void {
    const prefix = `${name}/`;
    this.nested ??= new Map();
    // a repeated turn goes on with the names of its steps
    if (this.nested.get(key)?.prefix !== prefix)
      this.nested.set(key, new DurableRun(this.engine, prefix));
  }

  /** Adds model calls that were made within a tool call, to be recorded with its step. */
  addModelCalls(callId: string, calls: readonly ModelCallRecord[]): void {
    this.ledgers ??= new Map();
    this.ledgers.set(callId, [...(this.ledgers.get(callId) ?? []), ...calls]);
  }

  /** The model calls of a tool call. */
  modelCallsOf(callId: string): readonly ModelCallRecord[] {
    return this.ledgers?.get(callId) ?? [];
  }

  /** False if a recorder around this one records the call. */
  beginCall(call: object): boolean {
    if (this.running.has(call)) return false;
    this.running.add(call);
    return true;
  }

  endCall(call: object): void {
    this.running.delete(call);
  }

  addReplayed(callId: string): void {
    (this.replayed ??= new Set()).add(callId);
  }

  /** True if the result of a call is a recorded one: its tool has not run in this execution. */
  isReplayed(callId: string): boolean {
    return this.replayed?.has(callId) === true;
  }
}
