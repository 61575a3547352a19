import type { ChatEvent, ResponseEvent } from '../chat/chat-event.js';
import type { ChatResponse } from '../chat/chat-response.js';
import { modelCallError, type RunRecord } from '../chat/run-record.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { cancelledError, isPromise } from '../internal/cancellation.js';
import { Observable, type Subscriber } from '../internal/rxjs.js';
import type { Observation } from '../observation/observation.js';
import type { AdvisorChain } from './advisor.js';
import type { ChatClientRequest } from './chat-client-request.js';
import { ResponseSubscriber } from './event-subscribers.js';

/** The end of an attempt: an error or a response. */
export type AttemptEnd =
  | { readonly error: unknown; readonly response?: undefined }
  | { readonly error?: undefined; readonly response: ChatResponse };

/** Another attempt. */
export interface NextAttempt {
  readonly request: ChatClientRequest;
  /** Milliseconds before it. @default 0 */
  readonly wait?: number;
}

/** The attempts of one run. */
export interface AttemptPlan {
  readonly first: ChatClientRequest;
  /** Returns another attempt, or undefined to keep the end of the latest one. */
  readonly next: (end: AttemptEnd) => NextAttempt | undefined | Promise<NextAttempt | undefined>;
}

/** True for a failure that may not happen again, as its model reports it. */
export const isRetryable = (error: unknown): boolean => modelCallError(error)?.retryable === true;

/** True for the end of a run that was cancelled or waits for people: no advisor may repeat it. */
export const isCancelled = (error: unknown): boolean => hasCode(error, 'cancelled', 'turn_paused');

/**
 * Runs the rest of the chain, and again as long as the plan has another attempt. Ends at once when
 * the run is cancelled, also between two attempts.
 * @param plan called for each run
 */
export function runAttempts(
  chain: Pick<AdvisorChain, 'next'>,
  { cancellation, run, observation }: ChatClientRequest,
  plan: () => AttemptPlan,
): Observable<ChatEvent> {
  return new Observable((subscriber) => {
    const cancel = (cause: unknown): void => subscriber.error(cancelledError(cause));
    subscriber.add(cancellation.onCancel(cancel));
    if (subscriber.closed) return;
    const { first, next } = plan();
    new Attempts(chain, next, subscriber, run, observation).start(first);
  });
}

class Attempts {
  constructor(
    private readonly chain: Pick<AdvisorChain, 'next'>,
    private readonly next: AttemptPlan['next'],
    private readonly subscriber: Subscriber<ChatEvent>,
    private readonly run: RunRecord,
    private readonly observation: Observation | undefined,
  ) {}

  start(request: ChatClientRequest): void {
    const { subscriber } = this;
    const onResponse = (event: ResponseEvent): void => {
      this.onEnd({ response: event.response }, () => {
        subscriber.next(event);
        subscriber.complete();
      });
    };
    const onError = (error: unknown): void => {
      this.onEnd({ error }, () => subscriber.error(error));
    };
    this.chain.next(request).subscribe(new ResponseSubscriber(onResponse, onError, subscriber));
  }

  private onEnd(end: AttemptEnd, keep: () => void): void {
    if (this.subscriber.closed) return;
    const go = (next: NextAttempt | undefined): void => {
      if (this.subscriber.closed) return;
      if (next) this.startLater(next);
      else keep();
    };
    const fail = (error: unknown): void => this.subscriber.error(error);
    try {
      const next = this.next(end);
      if (isPromise(next)) next.then(go).catch(fail);
      else go(next);
    } catch (error) {
      fail(error);
    }
  }

  /** In a task of its own: a model that fails at once must leave other runs their turns. */
  private startLater({ request, wait = 0 }: NextAttempt): void {
    const { recorder } = this.run;
    const waiting =
      wait > 0 ? this.observation?.begin({ type: 'wait', reason: 'retry' }) : undefined;
    const start = (): void => {
      waiting?.end({ type: 'done' });
      if (!this.subscriber.closed) this.start(request);
    };
    if (wait > 0 && recorder.isRecording)
      return this.startAfter(recorder.sleep(`wait ${request.iteration}`, wait), start);
    const timer = setTimeout(start, wait);
    this.subscriber.add(() => clearTimeout(timer));
  }

  /** A replayed turn does not wait again. */
  private startAfter(wait: Promise<void>, start: () => void): void {
    wait.then(start).catch((error: unknown) => this.subscriber.error(error));
  }
}
