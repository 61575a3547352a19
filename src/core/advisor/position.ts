import { isDelta, type ChatEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { type AssistantMessage, textOf } from '../chat/message.js';
import { checkOption, withMethods } from '../internal/options.js';
import { Observable, type Subscriber } from '../internal/rxjs.js';
import type { ToolRun } from '../tool-execution/tool-run.js';
import type { Advisor, AdvisorChain, AdvisorHandler } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { CheckedAnswer, citationDeltas, toDeltas } from './event-subscribers.js';
import { recordOrigin, type Origin } from './invariants.js';
import { toolRunOfLoop } from './run-tools.js';

const REQUEST = withMethods('a ChatClientRequest', 'withPrompt');

/** The rest of a chain, and the name of its first member for error messages. */
export interface ChainRest {
  readonly source: string;
  readonly subscribe: (request: ChatClientRequest, subscriber: Subscriber<ChatEvent>) => void;
}

/**
 * The rest of the chain for one run of an advisor. Enforces the contract of what comes back: one
 * response, as the last event, whose text the deltas add up to. If an attempt emitted deltas and the
 * rest is subscribed again, the deltas are retracted before its first event, so that `retry`,
 * `catchError` or `race` need no line for it.
 */
export class Position implements AdvisorChain {
  private streaming: Attempt | undefined;

  /** @param origin the advisor of the position, and the request that it received */
  constructor(
    private readonly rest: ChainRest,
    readonly advisors: readonly Advisor[],
    private readonly origin?: Origin,
  ) {}

  /** The chain itself if it is a position; the library passes nothing else. */
  static of(chain: Omit<AdvisorChain, 'tools'>, name: string): Position {
    if (chain instanceof Position) return chain;
    const source = `the chain after advisor "${name}"`;
    const subscribe: ChainRest['subscribe'] = (request, subscriber) =>
      void chain.next(request).subscribe(subscriber);
    return new Position({ source, subscribe }, chain.advisors);
  }

  /** A function of its own, which an advisor may take out of the chain. */
  get next(): AdvisorHandler {
    return (request) => {
      this.check(request);
      const { rest } = this;
      return new Observable((subscriber) =>
        rest.subscribe(request, new Attempt(this, request, rest.source, subscriber)),
      );
    };
  }

  tools(
    request: ChatClientRequest,
    onEvent: (event: ChatEvent) => void = () => undefined,
  ): ToolRun {
    checkOption('tools(…)', 'request', request, REQUEST);
    return toolRunOfLoop(request, this.advisors, onEvent);
  }

  /** Like `next(request).subscribe(subscriber)`. */
  subscribe(request: ChatClientRequest, subscriber: Subscriber<ChatEvent>): void {
    this.check(request);
    this.rest.subscribe(request, new Attempt(this, request, this.rest.source, subscriber));
  }

  private check(request: ChatClientRequest): void {
    checkOption('next(…)', 'request', request, REQUEST);
    if (this.origin) recordOrigin(request, this.origin);
  }

  /** True if the deltas that were emitted, and not retracted, add up to this message. */
  hasStreamed(message: AssistantMessage): boolean {
    const streamed = this.streaming?.message;
    return (
      streamed !== undefined &&
      streamed.content === message.content &&
      streamed.reasoning === message.reasoning &&
      streamed.toolCalls === message.toolCalls
    );
  }

  /** The event that voids what was emitted; undefined if there is nothing to void. */
  retraction(): ChatEvent | undefined {
    const { streaming } = this;
    return streaming?.hasDeltas ? { type: 'retract', iteration: streaming.iteration } : undefined;
  }

  /** Starts to stream an attempt, unless another one streams; its deltas are dropped then. */
  startStreaming(attempt: Attempt): boolean {
    const { streaming } = this;
    if (streaming && streaming !== attempt && !streaming.hasEnded) return false;
    this.streaming = attempt;
    return true;
  }

  /** Voids the deltas of an attempt that failed or was given up, before an event of another one. */
  retractBefore(attempt: Attempt): void {
    const { streaming } = this;
    // a later iteration of the loop does not count as another attempt
    if (!streaming?.hasEnded || streaming === attempt || attempt.start > streaming.iteration)
      return;
    this.streaming = undefined;
    if (streaming.hasDeltas) attempt.emit({ type: 'retract', iteration: attempt.start });
  }

  /** True if the emitted deltas, if any, belong to this attempt. */
  isStreamOf(attempt: Attempt): boolean {
    return this.streaming === undefined || this.streaming === attempt;
  }

  /** Replaces what was emitted by a whole answer. */
  replaceStream(attempt: Attempt, answer: ChatResponse): void {
    const { streaming } = this;
    // deltas of an earlier iteration of the loop stay
    if (streaming?.hasDeltas && attempt.start <= streaming.iteration)
      attempt.emit({ type: 'retract', iteration: attempt.iteration });
    if (streaming !== attempt) streaming?.silence();
    this.streaming = attempt;
    for (const delta of toDeltas(answer)) attempt.emit(delta);
    attempt.hasDeltas = true;
  }
}

/** One subscription of the rest of the chain. */
class Attempt extends CheckedAnswer {
  /** True if deltas were emitted that are not retracted. */
  hasDeltas = false;
  /** The iteration that streams. */
  iteration: number;
  /** True from its first delta to its response, unless another attempt streams. */
  private streams = false;
  private mute = false;
  /** Characters emitted in the iteration; adding up their text costs ten times as much. */
  private length = 0;
  /** The last text emitted in the iteration. */
  private last = '';

  constructor(
    private readonly position: Position,
    private readonly request: ChatClientRequest,
    source: string,
    subscriber: Subscriber<ChatEvent>,
  ) {
    super(source, subscriber);
    this.iteration = request.iteration;
  }

  /** The iteration that it began with. */
  get start(): number {
    return this.request.iteration;
  }

  get hasEnded(): boolean {
    return this.isStopped || this.closed;
  }

  emit(event: ChatEvent): void {
    this.subscriber.next(event);
  }

  /** Drops its deltas from now on, since another attempt has replaced them. */
  silence(): void {
    this.streams = false;
    this.mute = true;
  }

  protected override _next(event: ChatEvent): void {
    if (this.streams && isDelta(event)) {
      if (event.type === 'text-delta') this.addText(event.text);
      else if (event.type === 'citation') this.cited++;
      return this.subscriber.next(event);
    }
    if (!this.accepts(event)) return;
    if (!this.mute) this.position.retractBefore(this);
    if (isDelta(event)) {
      if (this.startStreaming()) this._next(event);
      return;
    } else if (event.type === 'response') {
      this.endStream(event.response);
    } else if (event.type === 'iteration') {
      // to be voided like a delta, also if the model has streamed none
      if (!this.streams && this.request.mode === 'stream') this.startStreaming();
      if (this.mute) return;
      this.startIteration(event.index + 1);
    } else if (event.type === 'iteration-start' || event.type === 'step') {
      if (this.mute) return;
    } else if (event.type === 'retract') {
      if (this.mute) return;
      this.startIteration(event.iteration);
      this.hasDeltas &&= event.iteration > this.request.iteration;
      this.streams &&= this.hasDeltas;
    }
    this.subscriber.next(event);
  }

  private addText(text: string): void {
    this.length += text.length;
    this.last = text;
  }

  private startIteration(iteration: number): void {
    this.iteration = iteration;
    this.length = this.cited = 0;
    this.last = '';
  }

  private startStreaming(): boolean {
    this.streams = !this.mute && this.position.startStreaming(this);
    this.mute = !this.streams;
    this.hasDeltas ||= this.streams;
    return this.streams;
  }

  /** Streams the answer whole if that has not happened: an advisor answered without deltas. */
  private endStream(answer: ChatResponse): void {
    const { message } = answer;
    const text = textOf(message);
    const hasSameText = text.length === this.length && text.endsWith(this.last);
    const isStreamed = hasSameText && this.position.isStreamOf(this);
    if (this.request.mode === 'stream' && isStreamed)
      for (const delta of citationDeltas(answer, this.cited)) this._next(delta);
    this.message = message;
    this.streams = false;
    if (this.request.mode === 'stream' && !isStreamed) this.position.replaceStream(this, answer);
  }
}
