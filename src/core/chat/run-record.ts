import type { ModelCallErrorOptions } from '../errors/errors.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { ownerOf, type Cancellable, PendingWork } from '../internal/cancellation.js';
import type { JsonValue } from '../internal/json.js';
import { wellFormed } from '../internal/well-formed.js';
import { Authors } from './authors.js';
import { toToolMessage, type ChatEvent } from './chat-event.js';
import { addUsage, isStopped, type ChatResponse, type Usage } from './chat-response.js';
import { interruptCalls, LoopRecord, type Mutable } from './loop-record.js';
import { type AssistantMessage, callsOf, type Message, type ToolCall } from './message.js';
import { costOf, type PriceOfCall } from './price.js';
import { Prompt } from './prompt.js';
import {
  reportJson,
  type ModelCallRecord,
  type RunReport,
  type Step,
  type StoredMessages,
  type ToolCallRecord,
} from './run-report.js';
import { LIVE, type RunRecorder } from './run-recorder.js';

/** Parts of an answer, or of an error, for the ledger. */
export interface CallDetails {
  readonly usage?: Usage | undefined;
  readonly model?: string | undefined;
}

/** An answer of a model to a prompt. */
export interface AnsweredCall {
  readonly iteration: number;
  readonly prompt: Prompt;
  readonly response: ChatResponse;
  readonly isReplayed?: boolean | undefined;
  withResponse(response: ChatResponse): AnsweredCall;
}

export type IterationStart = Extract<ChatEvent, { readonly type: 'iteration-start' }>;
const NO_MESSAGES = new Prompt([]);

/** The state of one run: every part of it writes here what it does. */
export class RunRecord implements RunReport {
  readonly ledger: ModelCallRecord[] = [];
  readonly stored: StoredMessages[] = [];
  readonly toolCalls: Mutable<ToolCallRecord>[] = [];
  /** Pieces of the text of the unfinished iteration; joined when it is read, which is seldom. */
  private texts: string[] = [];
  /** The answer of the run, once it has ended with one. */
  answer: AssistantMessage | undefined;
  private current: LoopRecord | undefined;
  /** The conversation of the request. */
  private request = NO_MESSAGES;
  /** Number of calls by iteration, or by kind outside the chain. */
  private readonly attempts = new Map<number | string, number>();
  /** Called when a model call starts; the event stream has it before the first event of the model. */
  onIterationStart: ((event: IterationStart) => void) | undefined;
  /** Models that have answered, if there are several. */
  readonly authors = new Authors();
  /** The latest answer of a model. */
  answered: AnsweredCall | undefined;
  /** The limits of the turn, which decide if one more model may be called. */
  limits: { readonly admitModelCall: () => boolean } | undefined;
  /** User messages that advisors had added to the latest request. */
  added: readonly Message[] = [];
  /** True if an advisor has a tool loop of its own, whose conversation is recorded here. */
  private hasOwnLoop = false;
  private readonly pending = new PendingWork();
  /** Runs each operation of the turn once, also in a replay. */
  recorder: RunRecorder = LIVE;
  /** Undefined before the first operation; see {@link isReplayed}. */
  private repeats: boolean | undefined;
  /** States of advisors, by {@link RunSlot}. */
  slots: Map<object, object> | undefined;

  /**
   * @param parent the run that this one is nested in
   * @param price of model calls; by default as of the outer run
   */
  constructor(
    readonly parent?: RunRecord,
    readonly price: PriceOfCall | undefined = parent?.price,
  ) {}

  /** The run whose `signal` this is, such as the signal of a tool's context. */
  static of(signal: AbortSignal | undefined): RunRecord | undefined {
    return RunRecord.owning(signal && { owner: ownerOf(signal) });
  }

  /** The run that a cancellation belongs to. */
  static owning(cancellation: Pick<Cancellable, 'owner'> | undefined): RunRecord | undefined {
    const owner = cancellation?.owner;
    return owner instanceof RunRecord ? owner : undefined;
  }

  /** True while events repeat what an earlier execution of the turn may have shown. */
  get isReplayed(): boolean {
    return this.repeats ?? this.recorder.isReplaying;
  }

  /** Begins an operation: a recorded one, or one that happens now. */
  beginOperation(isReplayed = false): void {
    this.repeats = isReplayed;
  }

  /** Starts the record with the conversation of the request. */
  begin(request: Prompt): void {
    this.request = request;
  }

  /** The loop with the steps of the run; without one, the run has one step at most. */
  private get loop(): LoopRecord {
    return (this.current ??= this.beginLoop(this.request));
  }

  get steps(): readonly Step[] {
    return this.current?.steps ?? [];
  }

  get transcript(): readonly Message[] {
    const { messages } = this.current?.conversation ?? this.request;
    return this.answer ? [...messages, this.answer] : messages;
  }

  get partialText(): string {
    return wellFormed(this.texts.join(''));
  }

  /** Adds a piece to {@link partialText}. */
  addText(text: string): void {
    this.texts.push(text);
  }

  /** Empties {@link partialText}: another iteration begins, or the text is void. */
  clearText(): void {
    if (this.texts.length > 0) this.texts = [];
  }

  get usage(): Usage | undefined {
    return this.ledger.reduce<Usage | undefined>(
      (sum, call) => addUsage(sum, call.usage),
      undefined,
    );
  }

  get cost(): number | undefined {
    return costOf(this.ledger, this.price);
  }

  get settled(): Promise<void> {
    return this.pending.settled();
  }

  /** Adds work that may outlive a cancellation, such as a request that is being closed. */
  track(work: Promise<unknown>): void {
    this.pending.add(work);
    this.parent?.track(work);
  }

  /** Adds work that begins when all other has ended, such as the release of a lock. */
  trackLast(begin: () => Promise<unknown>): void {
    const work = this.pending.addLast(begin);
    this.parent?.track(work);
  }

  /** Adds a call to the ledger; it is pending until {@link endModelCall}. */
  beginModelCall(
    kind: ModelCallRecord['kind'],
    model: string | undefined,
    iteration?: number,
  ): Mutable<ModelCallRecord> {
    const key = iteration ?? kind;
    const attempt = (this.attempts.get(key) ?? 0) + 1;
    this.attempts.set(key, attempt);
    const call = { kind, model, iteration, attempt, usage: undefined, outcome: 'pending' } as const;
    this.addToLedger(call);
    return call;
  }

  /** Adds a call that has ended already, such as a recorded one. */
  addToLedger(record: ModelCallRecord): void {
    this.ledger.push(record);
    this.parent?.addToLedger(record);
  }

  /** An answer with the usage of all calls so far. */
  withUsage(response: ChatResponse): ChatResponse {
    const { usage = response.usage } = this;
    return response.usage === usage ? response : response.with({ usage });
  }

  /** Adds the usage of an answer that its model has given up; the final usage includes it. */
  addSpent(record: Mutable<ModelCallRecord>, usage: Usage): void {
    if (record.outcome === 'pending') record.usage = addUsage(record.usage, usage);
  }

  /** Ends a call of the ledger; only the first end counts. */
  endModelCall(
    record: Mutable<ModelCallRecord>,
    outcome: ModelCallRecord['outcome'],
    { usage, model = record.model }: CallDetails = {},
  ): void {
    if (record.outcome !== 'pending') return;
    record.outcome = outcome;
    record.usage = outcome === 'answered' ? usage : addUsage(record.usage, usage);
    record.model = model;
  }

  /** Starts the record of a tool loop; its steps are the steps of the run from now on. */
  beginLoop(conversation: Prompt): LoopRecord {
    return (this.current = new LoopRecord(this.toolCalls, conversation));
  }

  /** Gives the run the steps of a loop: its answer counts, also if another began later. */
  endLoop(loop: LoopRecord): void {
    this.current = loop;
  }

  /** Returns the step that the event has begun: the tool loop begins its steps itself. */
  recordToolEvent(event: ChatEvent): Step | undefined {
    const begun = event.type === 'tool-call' ? this.beginStepOf(event.call) : undefined;
    this.loop.recordToolEvent(event);
    if (this.hasOwnLoop && event.type === 'tool-result')
      this.loop.conversation = this.loop.conversation.append(
        toToolMessage(event.call, event.result),
      );
    return begun;
  }

  /** Adds the latest answer as a step if it contains the call and no step has the call yet. */
  private beginStepOf({ id }: ToolCall): Step | undefined {
    const last = this.steps.at(-1);
    if (!this.answered || last?.toolCalls.some(({ call }) => call.id === id)) return undefined;
    const { iteration, prompt, response } = this.answered;
    if (!callsOf(response.message).some((call) => call.id === id)) return undefined;
    this.hasOwnLoop = true;
    this.loop.conversation = prompt.append(response.message);
    return this.loop.addStep(Math.max(iteration, (last?.index ?? -1) + 1), response);
  }

  toJSON(): JsonValue {
    return reportJson(this);
  }

  /** Ends the record with the answer of the run. */
  end(response: ChatResponse): void {
    const last = this.steps.at(-1);
    const isNewAnswer =
      this.answered?.response.message === response.message &&
      last?.response.message !== response.message;
    if (!last || isNewAnswer) this.loop.addStep((last?.index ?? -1) + 1, response);
    this.clearText();
    if (!isStopped(response)) this.answer = response.message; // an empty one is no message
    // nothing is left to run; a request outlives its run at the cost of garbage collection
    if (!response.hasToolCalls()) this.answered = undefined;
  }

  /** Ends the record of a run that failed or was cancelled, and adds it to the error as `run`. */
  interrupt(error: unknown): void {
    interruptCalls(this.toolCalls);
    if (this.partialText === '') this.addText(modelCallError(error)?.partialText ?? '');
    try {
      if (error instanceof Error && Object.isExtensible(error))
        Object.defineProperty(error, 'run', { value: this, configurable: true });
    } catch {
      // a proxy that rejects the property: the error itself must reach its caller
    }
  }
}

/** Codes of the errors of models. */
const MODEL_CALL_CODES = ['model_call', 'incomplete_response', 'model_timeout', 'limit_exceeded'];

/** The details of an error that ended a model call; undefined for any other. */
export function modelCallError(error: unknown): ModelCallErrorOptions | undefined {
  try {
    return hasCode(error, ...MODEL_CALL_CODES) ? error : undefined;
  } catch {
    return undefined; // a proxy threw
  }
}
