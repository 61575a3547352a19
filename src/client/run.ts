import type { ChatClientRequest } from '../advisor/chat-client-request.js';
import { ChatClientResponse } from '../advisor/chat-client-response.js';
import { ResponseSubscriber } from '../advisor/event-subscribers.js';
import { toDeltas } from '../advisor/position.js';
import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import { RunRecord } from '../chat/run-record.js';
import { CancelledError } from '../errors.js';
import { Cancellation, onAbort, type Backpressure } from '../internal/cancellation.js';
import { Observable, Subscriber } from '../internal/rxjs.js';
import { provideTools } from '../tool/tool-provider.js';
import { advisorsOf, toRequest, type RequestSettings } from './request-settings.js';

/**
 * The events of a run. Cold: each subscription is a run of its own. Both aborting the signal, which
 * ends it with a {@link CancelledError}, and unsubscribing end the model request and the tools.
 */
export function runEvents(
  settings: RequestSettings,
  mode: 'call' | 'stream',
  ready?: Backpressure,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    const { signal, tools, providers } = settings;
    const record = new RunRecord(RunRecord.of(signal));
    const run = new Run(subscriber, mode, record, new Cancellation(ready, record), signal);
    if (signal) run.add(onAbort(signal, () => run.error(abortError(signal))));
    if (run.closed) return;
    const chain = settings.chainOf(advisorsOf(settings));
    const request = toRequest(settings, mode, run.cancellation, record);
    record.conversation = request.prompt;
    const start = (changed: ChatClientRequest): void => {
      if (!run.closed) chain(changed).subscribe(run);
    };
    if (providers.length === 0) return start(request);
    provideTools(tools, providers, request, run.cancellation)
      .then((provided) => start(request.withTools(provided)))
      .catch((error: unknown) => run.error(error));
  });
}

function abortError({ reason }: AbortSignal): CancelledError {
  return new CancelledError('The run was cancelled by its signal.', { cause: reason as unknown });
}

/**
 * The outer end of a run: completes its record, and makes the deltas add up to the answer. Cancels
 * what the run has started when it ends early.
 */
class Run extends Subscriber<ChatEvent> {
  constructor(
    private readonly subscriber: Subscriber<ChatEvent>,
    private readonly mode: 'call' | 'stream',
    private readonly record: RunRecord,
    readonly cancellation: Cancellation,
    private readonly signal: AbortSignal | undefined,
  ) {
    super(subscriber);
    this.add(this.cancel);
    record.onIterationStart = (event) => {
      // after text of an earlier attempt it must wait for the retract
      if (record.partialText !== '') return;
      this.begun = event;
      subscriber.next(event);
    };
  }

  /** The last `iteration-start` that was emitted at once. */
  private begun: ChatEvent | undefined;

  private readonly cancel = (): void => this.cancellation.cancel(this.signal?.reason);

  protected override _next(event: ChatEvent): void {
    const { record } = this;
    if (event.type === 'text-delta') record.partialText += event.text;
    else if (event.type === 'iteration' || event.type === 'retract') record.partialText = '';
    else if (event === this.begun) return;
    else if (event.type === 'response') return this.answer(event);
    this.subscriber.next(event);
  }

  private answer(event: ResponseEvent): void {
    const { record, subscriber } = this;
    const { usage = event.response.usage } = record;
    const response =
      event.response.usage === usage ? event.response : event.response.with({ usage });
    const index = record.steps.at(-1)?.index ?? 0;
    const text = response.text ?? '';
    if (this.mode === 'stream' && record.partialText !== text) {
      if (record.partialText !== '') subscriber.next({ type: 'retract', iteration: index });
      for (const delta of toDeltas(response.message)) subscriber.next(delta);
    }
    record.end(response);
    subscriber.next({ ...event, response, run: record });
  }

  protected override _error(error: unknown): void {
    this.record.interrupt(error);
    super._error(error);
  }

  protected override _complete(): void {
    this.remove(this.cancel);
    super._complete();
  }
}

/** Runs to the end and returns the complete answer. */
export async function runToEnd(settings: RequestSettings): Promise<ChatClientResponse> {
  const { response, context, run } = await new Promise<ResponseEvent>((resolve, reject) => {
    runEvents(settings, 'call').subscribe(new ResponseSubscriber(resolve, reject));
  });
  return new ChatClientResponse(response, context, run);
}
