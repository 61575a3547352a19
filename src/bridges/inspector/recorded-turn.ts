import type { Advisor } from '../../core/advisor/advisor.js';
import type { ChatClientRequest } from '../../core/advisor/chat-client-request.js';
import type { SentBody } from '../../core/chat/chat-model.js';
import type { ChatResponse, Usage } from '../../core/chat/chat-response.js';
import type { PausedTurn, PendingRequest } from '../../core/chat/paused-turn.js';
import { waitingRequests } from '../../core/chat/waiting-requests.js';
import { pausedTurnOf } from '../../core/client/resume.js';
import { codeOf, isCancellation } from '../../core/errors/error-type.js';
import type { ObservedModelCall } from '../../core/observation/observation.js';
import type { LiveTurn } from './inspected-source.js';
import type { TimelineEntry, TurnSummary } from './inspected-turn.js';
import { keptRequest } from './kept-request.js';
import { MessageSizes, sizeOf } from './message-sizes.js';

/** An entry of the timeline while its turn runs: values are references, which are written when they are read. */
export interface RecordedEntry extends Omit<
  { -readonly [K in keyof TimelineEntry]: TimelineEntry[K] },
  'error' | 'detail'
> {
  error?: unknown;
  detail?: Readonly<Record<string, unknown>>;
}

/** An entry before it is added. */
export type NewEntry = Omit<RecordedEntry, 'id' | 'start'>;

/** A call of the model for an iteration, with the request that it got. */
export interface RecordedCall {
  readonly entry: RecordedEntry;
  readonly attempt: number;
  readonly call: ObservedModelCall;
  /** The last body that was sent. */
  wire?: SentBody;
}

/** The beginning of a turn. */
export interface TurnOrigin {
  readonly id: string;
  readonly source: TurnSummary['source'];
  readonly request: ChatClientRequest;
  readonly advisors: readonly Advisor[];
  /** Maximum number of entries of the timeline, and of bytes. */
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** Bytes that an entry, or a turn, counts for besides its texts. */
const PER_ENTRY = 300;
const PER_TURN = 3_000;

/** The record of a turn: references to immutable parts of it, with times. */
export class RecordedTurn {
  readonly startedAt = Date.now();
  readonly entries: RecordedEntry[] = [];
  readonly calls: RecordedCall[] = [];
  /** Names of the advisors that errors came from; none for an error of the model or a tool. */
  readonly sources = new Map<unknown, string | undefined>();
  outcome: TurnSummary['outcome'] = 'running';
  duration: number | undefined;
  error: unknown;
  response: ChatResponse | undefined;
  paused: PausedTurn | undefined;
  /** Reasoning of the current iteration. */
  reasoning = '';
  firstToken: number | undefined;
  model: string | undefined;
  iterations = 0;
  toolCalls = 0;
  revision = 1;
  bytes = PER_TURN;
  isCut = false;
  /** Ends the turn as its subscriber would. */
  cancel: () => void = () => undefined;
  private readonly clock = performance.now();
  private readonly attempts = new Map<number, number>();
  private readonly sizes = new MessageSizes();

  constructor(
    readonly origin: TurnOrigin,
    private readonly onChange: (turn: RecordedTurn) => void,
  ) {}

  /** Milliseconds since the start. */
  now(): number {
    return performance.now() - this.clock;
  }

  changed(): void {
    this.revision++;
    this.onChange(this);
  }

  /** Adds an entry; it is left out if the turn has as many as are kept. */
  add(entry: NewEntry): RecordedEntry {
    const { entries } = this;
    const added = entry as RecordedEntry;
    added.id = entries.length;
    added.start = this.now();
    if (this.hasRoom) {
      entries.push(added);
      this.bytes += PER_ENTRY;
      if (entry.detail) this.bytes += sizeOf(entry.detail);
    }
    this.changed();
    return added;
  }

  /** Adds something without a duration. */
  addEvent(entry: NewEntry): void {
    const added = this.add(entry);
    added.end = added.start;
  }

  /** Adds a wait that is over. @param waited its milliseconds */
  addWait(entry: Omit<NewEntry, 'kind'>, waited: number): void {
    const added = this.add({ ...entry, kind: 'wait' });
    added.end = added.start;
    added.start = Math.max(0, added.start - waited);
    added.outcome = 'ok';
  }

  /** Adds to the detail of an entry. */
  describe(entry: RecordedEntry, detail: Readonly<Record<string, unknown>>): void {
    if (!this.hasRoom) return;
    entry.detail = { ...entry.detail, ...detail };
    this.bytes += sizeOf(detail);
  }

  addCall(entry: RecordedEntry, call: ObservedModelCall): RecordedCall {
    const { iteration = 0, request = call } = call;
    this.sawIteration(iteration);
    const attempt = (this.attempts.get(iteration) ?? 0) + 1;
    this.attempts.set(iteration, attempt);
    const added: RecordedCall = { entry, attempt, call: keptCall(call) };
    if (this.hasRoom) {
      this.calls.push(added);
      this.bytes += this.sizes.ofRequest(request.prompt.messages);
    }
    return added;
  }

  /** Adds the answer of a model, which is a message of the next request. */
  addAnswer(entry: RecordedEntry, { message, finishReason, usage, model }: ChatResponse): void {
    if (usage) entry.usage = usage;
    if (entry.iteration !== undefined) this.model = model ?? entry.name;
    if (!this.hasRoom) return;
    entry.detail = { ...entry.detail, message, finishReason };
    this.bytes += this.sizes.of(message);
  }

  sawIteration(iteration: number): void {
    this.iterations = Math.max(this.iterations, iteration + 1);
  }

  /** Text of the current iteration, which its run records. */
  get text(): string {
    return this.origin.request.run.partialText;
  }

  /** A piece of text has come. */
  sawText(): void {
    this.firstToken ??= this.now();
    this.changed();
  }

  addReasoning(text: string): void {
    this.reasoning += text;
    this.changed();
  }

  /** Another iteration begins, or the reasoning of this one is void. */
  clearReasoning(): void {
    this.reasoning = '';
    this.changed();
  }

  /** Ends the turn; only the first end counts. */
  end(outcome: TurnSummary['outcome'], error?: unknown): void {
    if (this.outcome !== 'running') return;
    this.outcome = outcome;
    this.duration = this.now();
    this.error = error;
    this.cancel = () => undefined; // lets go of all that ran
    if (this.response)
      this.reasoning = ''; // the response has it
    else this.bytes += 2 * (this.text.length + this.reasoning.length);
    this.origin.request.run.onIterationStart = undefined; // keeps the whole run otherwise
    this.sizes.clear();
    for (const entry of this.entries) this.close(entry);
    this.changed();
  }

  fail(error: unknown): void {
    if (codeOf(error) !== 'turn_paused')
      return this.end(isCancellation(error) ? 'cancelled' : 'failed', error);
    this.paused = pausedTurnOf(error);
    for (const request of this.paused?.requests ?? [])
      this.addEvent({ kind: 'pause', name: request.toolName, detail: { ...request } });
    this.end('paused');
  }

  /** The parts with which it is resumed, or run again. */
  get live(): LiveTurn {
    const { origin, paused, calls } = this;
    const sent = calls[0]?.call.request;
    return { request: origin.request, advisors: origin.advisors, sent, paused };
  }

  /** Requests for which the turn waits while it runs. */
  get waiting(): readonly PendingRequest[] {
    return this.outcome === 'running' ? waitingRequests(this.origin.request.run) : [];
  }

  /** Usage so far: of the answer, as far as its model reports it, and of all other calls. */
  get usage(): Usage | undefined {
    return this.origin.request.run.usage;
  }

  private get hasRoom(): boolean {
    const { entries, origin } = this;
    if (entries.length >= origin.maxEntries || this.bytes >= origin.maxBytes) this.isCut = true;
    return !this.isCut;
  }

  /** Ends an open entry, but for a call for which the answer of the turn does not wait. */
  private close(entry: RecordedEntry): void {
    const isBeside = entry.kind === 'model-call' && entry.iteration === undefined;
    if (entry.end !== undefined || isBeside) return;
    entry.end = this.now();
    entry.outcome ??= this.outcome === 'answered' ? 'ok' : 'cancelled';
  }
}

function keptCall(call: ObservedModelCall): ObservedModelCall {
  const { type, prompt, options, provider, mode, iteration, request, main } = call;
  const kept = request && keptRequest(request);
  return { type, prompt, options, provider, mode, iteration, request: kept, main };
}
