import { decodeError, encodeError, type EncodedError } from '../../core/chat/error-codec.js';
import { randomId } from '../../core/chat/context.js';
import type { PendingRequest } from '../../core/chat/paused-turn.js';
import type { RunRecord } from '../../core/chat/run-record.js';
import type {
  CallableModel,
  DecisionWait,
  ModelCallSite,
  RunRecorder,
  StepCodec,
} from '../../core/chat/run-recorder.js';
import type { ModelCallRecord } from '../../core/chat/run-report.js';
import { untilCancelled } from '../../core/internal/cancellation.js';
import type { JsonValue } from '../../core/internal/json.js';
import { isPlainObject } from '../../core/internal/options.js';
import type { DurableEngine } from '../durable-engine.js';
import { RecordedModel, type TurnSteps } from './model-step.js';
import { ShownSteps, type StepEnd } from './shown-steps.js';

/** A turn, shared with the recorders of turns within it. */
interface SharedTurn {
  /** True if the engine has failed. */
  isLost: boolean;
  readonly steps: ShownSteps;
}

/** Records the operations of a run as steps of an engine, under names that are unique in its turn. */
export class DurableRun implements RunRecorder, TurnSteps {
  readonly isRecording = true;
  /** Number of steps of each place. */
  private readonly counts = new Map<string, number>();
  /** Numbers of steps that have asked a person, by place. */
  private readonly asked = new Map<string, number>();
  /** Recording that must end before another step begins. */
  private before: Promise<unknown> | undefined;
  /** Nested turns that have steps of their own, by the keys of their calls. */
  private nestedRuns: Map<string, DurableRun> | undefined;
  /** Calls whose step is running. */
  private readonly running = new Set<object>();
  /** Model calls within tool calls that are steps, by call. */
  private ledgers: Map<string, ModelCallRecord[]> | undefined;
  /** Steps of calls that an earlier execution has begun, and not ended. */
  readonly interrupted = new Set<string>();
  private recordedSecret: Promise<string> | undefined;
  /** Ids of the calls whose results are recorded ones. */
  private replayed: Set<string> | undefined;

  /**
   * @param prefix begins the names of the steps of a nested turn
   * @param turn shared with nested turns
   */
  constructor(
    readonly engine: DurableEngine,
    readonly prefix = '',
    private readonly turn: SharedTurn = { isLost: false, steps: new ShownSteps() },
  ) {}

  /** Undefined if the operations of a run are not recorded by an engine. */
  static of({ recorder }: RunRecord): DurableRun | undefined {
    return recorder instanceof DurableRun ? recorder : undefined;
  }

  get isReplaying(): boolean {
    return this.engine.isReplaying;
  }

  get keepsAnswers(): boolean {
    return this.engine.keepsAnswers === true;
  }

  async step<T>(
    place: string,
    live: (name: string) => Promise<T>,
    { encode, decode, isEnd }: StepCodec<T>,
  ): Promise<T> {
    const name = this.nameOf(place);
    let end: { readonly value: T } | { readonly error: unknown } | undefined;
    const recorded = await this.stepOf(name, async () => {
      try {
        end = { value: await live(name) };
      } catch (error) {
        if (!isEnd?.(error)) throw error;
        end = { error };
        return { error: encodeError(error) };
      }
      return encode(end.value);
    });
    const error = isEnd && !end ? errorIn(recorded) : undefined;
    if (error) throw decodeError(error);
    if (!end) return decode(recorded);
    if ('error' in end) throw end.error;
    return end.value;
  }

  sleep(place: string, milliseconds: number): Promise<void> {
    return this.watch(this.engine.sleep(this.nameOf(place), milliseconds));
  }

  model(live: CallableModel, call: ModelCallSite): CallableModel {
    return new RecordedModel(live, this, call);
  }

  nested(key: string): DurableRun | undefined {
    return this.nestedRuns?.get(key);
  }

  async waitFor(
    request: PendingRequest,
    { timeout, cancellation, onNew }: DecisionWait,
  ): Promise<JsonValue | undefined> {
    const shown = request as unknown as JsonValue;
    const waiting = this.engine.waitFor(request.id, { timeout, request: shown });
    const decision = await untilCancelled(this.watch(waiting), cancellation);
    if (!this.isReplaying) onNew?.();
    return decision;
  }

  async secret(call?: object): Promise<string | undefined> {
    if (call && this.running.has(call)) return undefined;
    this.recordedSecret ??= this.stepOf(`${this.prefix}secret`, async () => randomId());
    return this.recordedSecret;
  }

  get isLost(): boolean {
    return this.turn.isLost;
  }

  /** The engine keeps all steps, whatever the turn ends with. */
  keepsStep(_name: string, _error: unknown): boolean {
    return true;
  }

  /** The name of the next step of a place. */
  nameOf(place: string): string {
    const count = this.countOf(place) + 1;
    this.counts.set(place, count);
    return this.nameAt(place, count);
  }

  /** The name of a step of a place by its number, from 1. */
  nameAt(place: string, number: number): string {
    return number === 1 ? this.prefix + place : `${this.prefix}${place} #${number}`;
  }

  /** Number of steps of a place so far. */
  countOf(place: string): number {
    return this.counts.get(place) ?? 0;
  }

  /** Number of attempts of a tool call so far, not counting steps that asked a person. */
  attemptOf(place: string): number {
    return this.countOf(place) - (this.asked.get(place) ?? 0);
  }

  /** Lets the next step of a place resume an interrupted call, about which a person is asked. */
  allowResume(place: string): void {
    this.asked.set(place, (this.asked.get(place) ?? 0) + 1);
    this.interrupted.add(this.nameAt(place, this.countOf(place) + 1));
  }

  /** Runs a step under a name of {@link nameOf}. */
  stepOf<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    const { before } = this;
    return before ? before.then(() => this.begin(name, run)) : this.begin(name, run);
  }

  private async begin<T extends JsonValue>(name: string, run: () => Promise<T>): Promise<T> {
    const { steps } = this.turn;
    let end = 'replayed' as StepEnd;
    const work = (): Promise<T> => {
      end = 'recorded';
      return run().catch((error: unknown) => {
        end = 'failed';
        throw error;
      });
    };
    steps.begin(name, this.interrupted.has(name));
    try {
      const value = await this.watch(this.engine.step(name, work), () => end === 'failed');
      steps.end(name, end);
      return value;
    } catch (error) {
      steps.end(name, 'failed');
      throw error;
    }
  }

  /** Notes that the engine has failed, unless the work of its step has. */
  private async watch<T>(ended: Promise<T>, hasWorkFailed = (): boolean => false): Promise<T> {
    try {
      return await ended;
    } catch (error) {
      if (!hasWorkFailed()) this.turn.isLost = true;
      throw error;
    }
  }

  holdUntil(recorded: Promise<unknown>): void {
    const settled = recorded.then(
      () => undefined,
      () => undefined,
    );
    this.before = Promise.all([this.before, settled]);
  }

  /** Gives a nested turn steps of its own under a name; see {@link nested}. */
  addNested(key: string, name: string): DurableRun {
    const prefix = `${name}/`;
    this.nestedRuns ??= new Map();
    const known = this.nestedRuns.get(key);
    if (known?.prefix === prefix) return known; // a repeated turn continues the numbers of its steps
    const nested = this.create(prefix);
    this.nestedRuns.set(key, nested);
    return nested;
  }

  /** The recorder of a nested turn. */
  protected create(prefix: string): DurableRun {
    return new DurableRun(this.engine, prefix, this.turn);
  }

  addModelCalls(callId: string, calls: readonly ModelCallRecord[]): void {
    this.ledgers ??= new Map();
    this.ledgers.set(callId, [...this.modelCallsOf(callId), ...calls]);
  }

  /** The model calls of a tool call. */
  modelCallsOf(callId: string): readonly ModelCallRecord[] {
    return this.ledgers?.get(callId) ?? [];
  }

  /** False if a step around this one records the call. */
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

  isReplayed(callId: string): boolean {
    return this.replayed?.has(callId) === true;
  }

  /** The state for an inspector: all steps, also of nested turns. */
  inspect() {
    const { isReplaying, isLost, turn } = this;
    return { isReplaying, isLost, steps: turn.steps.list() };
  }
}

function errorIn(recorded: JsonValue): EncodedError | undefined {
  return isPlainObject(recorded) ? (recorded['error'] as EncodedError | undefined) : undefined;
}
