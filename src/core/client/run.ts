import { ChatClientResponse } from '../advisor/chat-client-response.js';
import {
  ResponseSubscriber,
  CheckedAnswer,
  citationDeltas,
  toDeltas,
} from '../advisor/event-subscribers.js';
import { isDelta, writableEvent, type ChatEvent, type ResponseEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { PausedTurn } from '../chat/paused-turn.js';
import { pauseRecord } from '../chat/pause-record.js';
import { RunRecord, type IterationStart } from '../chat/run-record.js';
import { CancelledError } from '../errors/errors.js';
import {
  Cancellation,
  cancelledError,
  onAbort,
  type Backpressure,
} from '../internal/cancellation.js';
import type { Subscriber } from '../internal/rxjs.js';
import { provideTools } from '../tool/tool-provider.js';
import { openTurn, pausedResponse, pausedTurnOf } from './resume.js';
import { advisorsOf, toRequest, type RequestSettings } from './request-settings.js';

/** The record of a run that is about to start. */
export function recordOf({ signal, price }: RequestSettings): RunRecord {
  return new RunRecord(RunRecord.of(signal), price);
}

function abortError({ reason }: AbortSignal): CancelledError {
  return new CancelledError('The run was cancelled by its signal.', { cause: reason as unknown });
}

/**
 * A run, at its outer end: completes its record, and makes the deltas add up to the answer. Both
 * aborting the signal, which ends it with a {@link CancelledError}, and unsubscribing end the model
 * request and the tools.
 */
export class Run extends CheckedAnswer {
  private readonly cancellation: Cancellation;
  /** Iterations whose `iteration-start` was emitted at once; the event of the chain comes later. */
  private begun: number[] = [];
  /** Index of the current iteration; a retract sets it back. */
  private iteration = 0;
  /** The last `iteration` as advisors have let it through. */
  private shown: Extract<ChatEvent, { readonly type: 'iteration' }> | undefined;
  /** True if deltas of {@link iteration} were emitted. */
  private hasDeltas = false;
  private outcome: Promise<ChatClientResponse> | undefined;
  private settle: (() => void) | undefined;
  private answered: ResponseEvent | undefined;
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly settings: RequestSettings,
    private readonly mode: 'call' | 'stream',
    private readonly record: RunRecord,
    subscriber: Subscriber<ChatEvent>,
    ready?: Backpressure,
  ) {
    super('the chain', subscriber);
    const { signal } = settings;
    this.cancellation = new Cancellation(ready, record);
    this.add(this.cancel);
    if (signal) this.add(onAbort(signal, () => this.error(abortError(signal))));
    if (mode === 'stream') record.onIterationStart = (event) => this.beginIteration(event);
  }

  /** @param settings of the turn; a resumed turn reads them from its state first */
  start(settings = this.settings): void {
    if (this.closed) return;
    if (settings === this.settings && settings.resume) return this.resume(settings.resume);
    const { cancellation, record, mode } = this;
    const { tools, providers } = settings;
    try {
      const chain = settings.chainOf(advisorsOf(settings));
      const request = toRequest(settings, mode, cancellation, record);
      record.begin(request.prompt);
      this.source = chain.source;
      if (providers.length === 0) return chain.subscribe(request, this);
      provideTools(tools, providers, request, cancellation)
        .then((provided) => {
          if (!this.closed) chain.subscribe(request.withTools(provided), this);
        })
        .catch((error: unknown) => this.error(error));
    } catch (error) {
      this.error(error);
    }
  }

  private resume(resume: NonNullable<RequestSettings['resume']>): void {
    openTurn(this.settings, resume, this.record)
      .then((opened) => this.start(opened))
      .catch((error: unknown) => this.error(error));
  }

  /**
   * The answer, or the error, also after the end of the run. A rejection without a handler does
   * not end the process, since the consumer of the events receives the same error.
   */
  get response(): Promise<ChatClientResponse> {
    if (this.outcome) return this.outcome;
    this.outcome = new Promise((resolve, reject) => {
      this.settle = () => {
        if (this.answered) resolve(ChatClientResponse.of(this.answered));
        else reject(this.reason);
      };
    });
    this.outcome.catch(() => undefined);
    if (this.closed || this.answered) this.settle?.();
    return this.outcome;
  }

  private get reason(): Error {
    if (this.failure) return this.failure.error as Error;
    const error = cancelledError(this.settings.signal?.reason);
    this.record.interrupt(error);
    return error;
  }

  private readonly cancel = (): void => {
    this.cancellation.cancel(this.settings.signal?.reason);
    this.settle?.();
  };

  protected override _next(event: ChatEvent): void {
    if (isDelta(event) && !this.message) {
      if (event.type === 'text-delta') this.record.addText(event.text);
      else if (event.type === 'citation') this.cited++;
      this.hasDeltas = true;
      return this.emit(event);
    }
    if (!this.accepts(event)) return;
    if (event.type === 'response') return this.answer(event);
    if (event.type === 'iteration-start' && this.hasBegun(event.index)) return;
    if (event.type === 'iteration') this.shown = event;
    if (event.type === 'step') return this.showStep(event);
    this.emit(writableEvent(event));
    // after the subscriber, which may need the text
    if (event.type === 'iteration') this.startIteration(event.index + 1);
    if (event.type !== 'retract') return;
    // what an advisor held back was not emitted
    if (this.hasDeltas || event.iteration < this.iteration) this.begun = [];
    this.startIteration(event.iteration);
  }

  /** Emits an event with the mark of a replay: here, so that events of advisors have it, too. */
  private emit(event: ChatEvent): void {
    const { isReplayed } = this.record;
    if (!isReplayed) this.subscriber.next(event);
    else this.subscriber.next(writableEvent({ ...event, isReplayed } as ChatEvent));
  }

  /** Emits an `iteration-start` at once. */
  private beginIteration(event: IterationStart): void {
    // after events of an earlier attempt it must wait for the retract
    if (this.hasDeltas || event.index < this.iteration) return;
    this.begun = [...this.begun, event.index];
    this.subscriber.next(event);
  }

  /** True if an `iteration-start` of this index was emitted that has not come again. */
  private hasBegun(index: number): boolean {
    const at = this.begun.indexOf(index);
    if (at >= 0) this.begun = this.begun.toSpliced(at, 1);
    return at >= 0;
  }

  /** A step shows what its iteration has shown: a guard may have redacted it, or let none through. */
  private showStep(event: Extract<ChatEvent, { readonly type: 'step' }>): void {
    const { index, response } = this.shown ?? {};
    if (response && index === event.step.index)
      this.emit({ ...event, step: Object.freeze({ ...event.step, response }) });
  }

  private startIteration(iteration: number): void {
    this.record.clearText();
    this.iteration = iteration;
    this.cited = 0;
    this.hasDeltas = false;
  }

  private answer(event: ResponseEvent): void {
    const { record, subscriber } = this;
    const response = record.withUsage(event.response);
    this.message = response.message;
    if (this.mode === 'stream') this.completeStream(response);
    record.end(response);
    this.answered = { ...event, response, run: record };
    this.settle?.();
    subscriber.next(this.answered);
  }

  /**
   * Emits what an advisor has added to the answer: citations, or all of another answer than what was
   * streamed, if anything was.
   */
  private completeStream(response: ChatResponse): void {
    const { iteration, record } = this;
    const isStreamed = record.partialText === (response.text ?? '');
    if (!isStreamed && this.hasDeltas) this.emit({ type: 'retract', iteration });
    const missing = isStreamed ? citationDeltas(response, this.cited) : toDeltas(response);
    for (const delta of missing) this.emit(delta);
  }

  protected override _error(error: unknown): void {
    const paused = pausedTurnOf(error);
    if (paused && !this.message) return this.pause(paused);
    this.record.interrupt(error);
    this.failure = { error };
    this.settle?.();
    super._error(error);
  }

  /** Ends with a response that shows the paused turn. */
  private pause(paused: PausedTurn): void {
    const { record, subscriber, settings } = this;
    if (this.hasDeltas) this.emit({ type: 'retract', iteration: this.iteration });
    const response = record.withUsage(pausedResponse(paused));
    pauseRecord(record);
    this.message = response.message;
    this.answered = { type: 'response', response, context: settings.params, run: record };
    this.settle?.();
    subscriber.next(this.answered);
    if (!this.closed) this._complete();
  }

  protected override _complete(): void {
    this.remove(this.cancel);
    super._complete();
  }
}

/** Runs to the end and returns the complete answer. */
export function runToEnd(settings: RequestSettings): Promise<ChatClientResponse> {
  return new Promise((resolve, reject) => {
    const answer = (event: ResponseEvent): void => resolve(ChatClientResponse.of(event));
    const record = recordOf(settings);
    new Run(settings, 'call', record, new ResponseSubscriber(answer, reject)).start();
  });
}
