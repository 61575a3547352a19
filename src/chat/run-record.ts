import { ModelCallError } from '../errors.js';
import { ownerOf } from '../internal/cancellation.js';
import { Authors } from './authors.js';
import type { ChatEvent, ToolResult } from './chat-event.js';
import { addUsage, type ChatResponse, type Usage } from './chat-response.js';
import type { AssistantMessage, Message, ToolCall } from './message.js';
import type { Prompt } from './prompt.js';
import type {
  ModelCallRecord,
  RunReport,
  Step,
  StoredMessages,
  ToolCallRecord,
} from './run-report.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type MutableStep = Mutable<Step> & { toolCalls: Mutable<ToolCallRecord>[] };

/** An answer of a model; request and advisors have types of the chain. */
interface AnsweredCall {
  readonly request: { readonly iteration: number };
  readonly advisors: readonly object[];
  readonly response: ChatResponse;
}

/** The state of one run: every part of it writes here what it does. */
export class RunRecord implements RunReport {
  readonly steps: MutableStep[] = [];
  readonly ledger: ModelCallRecord[] = [];
  readonly stored: StoredMessages[] = [];
  partialText = '';
  usage: Usage | undefined;
  /** The conversation so far: of the request, then of the tool loop. */
  conversation: Prompt | undefined;
  private answer: AssistantMessage | undefined;
  private latestCall:
    { readonly iteration: number | undefined; readonly attempt: number } | undefined;
  /** Receives an `iteration-start` at once; in the events it comes with the first of the model. */
  onIterationStart: ((event: ChatEvent) => void) | undefined;
  /** Models that have answered, if there are several. */
  readonly authors = new Authors();
  /** The latest answer of a model, and what tools that run by hand need of its chain. */
  answered: AnsweredCall | undefined;
  private readonly pending = new Set<Promise<unknown>>();
  private readonly startTimes = new Map<ToolCallRecord, number>();

  /** @param parent the run that this one is nested in */
  constructor(private readonly parent?: RunRecord) {}

  /** The run whose `signal` this is, such as that of a tool's context. */
  static of(signal: AbortSignal | undefined): RunRecord | undefined {
    const owner = signal && ownerOf(signal);
    return owner instanceof RunRecord ? owner : undefined;
  }

  get transcript(): readonly Message[] {
    const messages = this.conversation?.messages ?? [];
    return this.answer ? [...messages, this.answer] : messages;
  }

  get toolCalls(): readonly ToolCallRecord[] {
    return this.steps.flatMap((step) => step.toolCalls);
  }

  get settled(): Promise<void> {
    return this.untilSettled();
  }

  /** Adds work that may outlive a cancellation, such as a request that is being closed. */
  track(work: Promise<unknown>): void {
    const forget = (): void => void this.pending.delete(work);
    this.pending.add(work);
    work.then(forget, forget);
    this.parent?.track(work);
  }

  /** Adds a call to the ledger; it is pending until {@link endModelCall}. */
  beginModelCall(model: string | undefined, iteration?: number): Mutable<ModelCallRecord> {
    const kind = iteration === undefined ? 'embedding' : 'chat';
    const { latestCall: latest } = this;
    const isAgain = kind === 'chat' && latest?.iteration === iteration;
    const attempt = isAgain ? (latest?.attempt ?? 0) + 1 : 1;
    const call = { kind, model, iteration, attempt, usage: undefined, outcome: 'pending' } as const;
    const record: Mutable<ModelCallRecord> = call;
    if (kind === 'chat') this.latestCall = record;
    this.addToLedger(record);
    return record;
  }

  private addToLedger(record: ModelCallRecord): void {
    this.ledger.push(record);
    this.parent?.addToLedger(record);
  }

  /** Ends a call of the ledger; only the first end counts. */
  endModelCall(
    record: Mutable<ModelCallRecord>,
    outcome: ModelCallRecord['outcome'],
    {
      usage,
      model,
    }: { readonly usage?: Usage | undefined; readonly model?: string | undefined } = {},
  ): void {
    if (record.outcome !== 'pending') return;
    record.outcome = outcome;
    record.usage = usage;
    record.model = model ?? record.model;
    this.addUsage(usage);
  }

  private addUsage(usage: Usage | undefined): void {
    this.usage = addUsage(this.usage, usage);
    this.parent?.addUsage(usage);
  }

  /** Begins an iteration; those from its index on were given up, as by a retry of the turn. */
  beginIteration(index: number, conversation: Prompt): void {
    while ((this.steps.at(-1)?.index ?? -1) >= index) this.steps.pop();
    this.conversation = conversation;
  }

  addStep(index: number, response: ChatResponse): void {
    const calls = response.generations.flatMap(({ message }) => message.toolCalls);
    const toolCalls = calls.map((call) => toolCallRecord(call));
    this.steps.push({ index, response, toolCalls });
  }

  /** Returns the step that the event has begun: the tool loop begins its steps itself. */
  recordToolEvent(event: ChatEvent): Step | undefined {
    if (event.type === 'tool-call') return this.startToolCall(event.call);
    if (event.type === 'tool-result') this.endToolCall(event.call, event.result);
    return undefined;
  }

  private startToolCall(call: ToolCall): Step | undefined {
    const begun = this.beginStepOf(call);
    const record = this.findToolCall(call);
    record.status = 'started';
    this.startTimes.set(record, Date.now());
    return begun;
  }

  /** Adds the latest answer as a step if the call is one of it and of no step. */
  private beginStepOf({ id }: ToolCall): Step | undefined {
    const last = this.steps.at(-1);
    if (last?.toolCalls.some(({ call }) => call.id === id)) return undefined;
    const { request, response } = this.answered ?? {};
    const isOfAnswer = response?.generations.some(({ message }) =>
      message.toolCalls.some((call) => call.id === id),
    );
    if (!response || !isOfAnswer) return undefined;
    this.addStep(Math.max(request?.iteration ?? 0, (last?.index ?? -1) + 1), response);
    return this.steps.at(-1);
  }

  private endToolCall(call: ToolCall, result: ToolResult): void {
    const record = this.findToolCall(call);
    const started = this.startTimes.get(record);
    this.startTimes.delete(record);
    record.status = 'finished';
    record.result = result;
    record.duration = started === undefined ? undefined : Date.now() - started;
  }

  private findToolCall(call: ToolCall): Mutable<ToolCallRecord> {
    const toolCalls = this.steps.at(-1)?.toolCalls ?? [];
    let record =
      toolCalls.find((each) => each.call === call) ??
      toolCalls.find((each) => each.call.id === call.id);
    if (!record) toolCalls.push((record = toolCallRecord(call)));
    return record;
  }

  /** Ends the record with the answer of the run. */
  end(response: ChatResponse): void {
    const last = this.steps.at(-1);
    const isNewAnswer =
      this.answered?.response.message === response.message &&
      last?.response.message !== response.message;
    if (!last || isNewAnswer) this.addStep((last?.index ?? -1) + 1, response);
    this.partialText = '';
    this.answer = response.message;
  }

  /** Ends the record of a run that failed or was cancelled, and adds it to the error as `run`. */
  interrupt(error: unknown): void {
    for (const record of this.steps.flatMap<Mutable<ToolCallRecord>>((step) => step.toolCalls))
      if (record.status === 'started') record.status = 'unknown';
    if (this.partialText === '') this.partialText = modelCallError(error)?.partialText ?? '';
    try {
      if (error instanceof Error && Object.isExtensible(error))
        Object.defineProperty(error, 'run', { value: this, configurable: true });
    } catch {
      // a proxy that rejects the property: the error itself must reach its caller
    }
  }

  private async untilSettled(): Promise<void> {
    while (this.pending.size > 0) await Promise.allSettled(this.pending);
  }
}

/** The error as one of a model call; undefined for any other. */
export function modelCallError(error: unknown): ModelCallError | undefined {
  try {
    return error instanceof ModelCallError ? error : undefined;
  } catch {
    return undefined; // a proxy threw
  }
}

function toolCallRecord(call: ToolCall): Mutable<ToolCallRecord> {
  const { name: toolName } = call;
  return { toolName, call, status: 'requested', result: undefined, duration: undefined };
}
