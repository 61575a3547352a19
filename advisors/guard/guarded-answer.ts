import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { toDeltas } from '../../src/core/advisor/event-subscribers.js';
import { isDelta, type ChatEvent, type ResponseEvent } from '../../src/core/chat/chat-event.js';
import { ChatResponse } from '../../src/core/chat/chat-response.js';
import type { AdvisorContext } from '../../src/core/chat/context.js';
import { Subscriber } from '../../src/core/internal/rxjs.js';
import { cleanError, guardEvents, judgeAnswer, type Gate, type Judged } from './judge.js';
import type { GuardAdvisorOptions } from './guard-options.js';
import { stopOf, type Hit, type Policies } from './policies.js';
import { ShownAnswer } from './shown-answer.js';

/** Text of an answer in the place of one that was blocked. */
const BLOCKED = 'I cannot help with that.';

/** The answer of a blocked turn. */
export function blockedAnswer({ policy }: Hit): ChatResponse {
  return ChatResponse.ofText(policy.answer ?? BLOCKED, 'content_filter');
}

type AnswerEvent = ResponseEvent | Extract<ChatEvent, { readonly type: 'iteration' }>;

/** The events of a model call, of which nothing is passed on that a rule removes or refuses. */
export class GuardedAnswer extends Subscriber<ChatEvent> {
  /** Events that wait for a verdict. */
  private readonly queue: ChatEvent[] = [];
  private waits = false;
  private end: (() => void) | undefined;
  private shown: ShownAnswer;
  private iteration: number;

  constructor(
    private readonly policies: Policies,
    private readonly release: NonNullable<GuardAdvisorOptions['release']>,
    private readonly request: ChatClientRequest,
    private readonly subscriber: Subscriber<ChatEvent>,
    gate: Gate | undefined,
  ) {
    super(subscriber);
    this.iteration = request.iteration;
    this.shown = this.newAnswer();
    if (gate && !gate.isOpen) this.await(gate.opened, () => undefined);
  }

  protected override _next(event: ChatEvent): void {
    if (this.waits) this.queue.push(event);
    else this.handle(event);
  }

  protected override _error(error: unknown): void {
    this.finish(() => {
      cleanError(this.policies, error);
      this.subscriber.error(error);
    });
  }

  protected override _complete(): void {
    this.finish(() => this.subscriber.complete());
  }

  private finish(end: () => void): void {
    if (this.waits) this.end = end;
    else end();
  }

  private handle(event: ChatEvent): void {
    try {
      if (isDelta(event)) return this.show(event);
      if (event.type === 'response' || event.type === 'iteration') return this.judge(event);
      if (event.type === 'retract') this.restart(event.iteration);
      this.subscriber.next(event);
    } catch (error) {
      this.fail(error);
    }
  }

  private show(event: ChatEvent): void {
    for (const delta of this.shown.push(event)) this.subscriber.next(delta);
    const { stop } = this.shown;
    if (stop) this.stop(stop);
  }

  private judge(event: AnswerEvent): void {
    const judged = judgeAnswer(this.policies, event.response, this.request);
    if (!(judged instanceof Promise)) return this.pass(event, judged);
    this.await(judged, (result) => this.pass(event, result));
  }

  private pass(event: AnswerEvent, { value, hits }: Judged<ChatResponse>): void {
    const stop = stopOf(hits);
    if (stop) return this.stop(stop, hits, event.type === 'response' ? event.context : undefined);
    for (const report of guardEvents(this.policies, hits)) this.subscriber.next(report);
    this.keepChanged(event.response, value);
    this.emitAnswer(value, value !== event.response);
    this.subscriber.next({ ...event, response: value });
    if (event.type === 'iteration') this.restart(event.index + 1);
  }

  /** Ends the model call, and answers in its place. */
  private stop(
    stop: Hit,
    hits: readonly Hit[] = [stop],
    context: AdvisorContext = this.request.context,
  ): void {
    this.unsubscribe();
    for (const report of guardEvents(this.policies, hits)) this.subscriber.next(report);
    if (stop.policy.action === 'throw') return this.subscriber.error(this.policies.error(stop));
    const response = blockedAnswer(stop);
    this.emitAnswer(response, true);
    this.subscriber.next({ type: 'response', response, context });
    this.subscriber.complete();
  }

  /** Emits the deltas that are missing, or all of them after a retraction of others. */
  private emitAnswer(response: ChatResponse, isChanged: boolean): void {
    if (this.request.mode !== 'stream') return;
    const missing = this.shown.missing(response, isChanged);
    if (!missing) this.subscriber.next({ type: 'retract', iteration: this.iteration });
    for (const delta of missing ?? toDeltas(response)) this.subscriber.next(delta);
  }

  private keepChanged(before: ChatResponse, after: ChatResponse): void {
    if (before === after) return;
    const { run } = this.request;
    // tools that are run by hand take the answer from there
    run.answered = run.answered?.withResponse(after);
    for (const [at, { message }] of after.generations.entries()) {
      const original = before.generations[at]?.message;
      if (original) run.authors.inherit(original, message);
    }
  }

  private restart(iteration: number): void {
    this.iteration = iteration;
    this.shown = this.newAnswer();
  }

  private newAnswer(): ShownAnswer {
    return new ShownAnswer(this.policies, this.release);
  }

  /** Lets all further events wait for a promise. */
  private await<T>(promise: Promise<T>, use: (value: T) => void): void {
    this.waits = true;
    promise.then(
      (value) => {
        if (this.subscriber.closed) return;
        this.waits = false;
        try {
          use(value);
        } catch (error) {
          return this.fail(error);
        }
        this.drain();
      },
      (error: unknown) => this.fail(error),
    );
  }

  private drain(): void {
    for (let next = this.queue.shift(); next; next = this.queue.shift()) {
      if (this.subscriber.closed) return;
      this.handle(next);
      if (this.waits) return;
    }
    if (!this.subscriber.closed) this.end?.();
  }

  private fail(error: unknown): void {
    this.unsubscribe();
    this.subscriber.error(error);
  }
}
