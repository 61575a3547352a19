import type { AdvisorChain } from '../../src/core/advisor/advisor.js';
import type { ChatClientRequest } from '../../src/core/advisor/chat-client-request.js';
import { toDeltas } from '../../src/core/advisor/event-subscribers.js';
import type { ChatEvent } from '../../src/core/chat/chat-event.js';
import type { ContextKey } from '../../src/core/chat/context.js';
import { textOf, type Message, type UserMessage } from '../../src/core/chat/message.js';
import { Observable, Subscriber } from '../../src/core/internal/rxjs.js';
import { Gate, guardEvents, scanContent } from './judge.js';
import { blockedAnswer } from './guarded-answer.js';
import { kindsOf, stopOf, type Hit, type Policies } from './policies.js';

/** Messages of a request after the last answer: what is new in this turn, with the beginning of its answer. */
export function newMessages(messages: readonly Message[]): readonly Message[] {
  const end = messages.findLastIndex(({ role }) => role !== 'assistant');
  const last = messages.findLastIndex(({ role }, at) => role === 'assistant' && at < end);
  return messages.slice(last + 1);
}

/**
 * The rest of the chain for a question that the policies let pass; their answer for another one.
 * @param gate key for the verdict, if the model may work before it
 */
export function guardQuestion(
  policies: Policies,
  request: ChatClientRequest,
  chain: Pick<AdvisorChain, 'next'>,
  gate?: ContextKey<Gate | undefined>,
): Observable<ChatEvent> {
  return new Observable((subscriber) =>
    new GuardedQuestion(policies, request, chain, subscriber).start(gate),
  );
}

class GuardedQuestion {
  constructor(
    private readonly policies: Policies,
    private request: ChatClientRequest,
    private readonly chain: Pick<AdvisorChain, 'next'>,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {}

  start(gate: ContextKey<Gate | undefined> | undefined): void {
    const { policies } = this;
    const hits: Hit[] = [];
    this.changeNewMessages((message) => this.scan(message, hits));
    const stop = stopOf(hits);
    this.report(hits);
    if (stop) return this.refuse(stop);
    if (!policies.hasChecks) return this.pass(this.subscriber);
    const verdict = policies.check(this.newText(), this.request);
    if (gate) return this.passBeside(verdict, gate);
    verdict.then((found) => this.decide(found)).catch((error: unknown) => this.fail(error));
  }

  private scan(message: UserMessage, all: Hit[]): UserMessage {
    const { value: content, hits } = scanContent(this.policies, message.content);
    all.push(...hits);
    const kinds = kindsOf(hits, 'mark');
    if (kinds.length > 0)
      return { ...message, content, metadata: { ...message.metadata, guard: kinds } };
    return content === message.content ? message : { ...message, content };
  }

  private changeNewMessages(change: (message: UserMessage) => UserMessage): void {
    const { messages } = this.request.prompt;
    const recent = newMessages(messages);
    const changed = recent.map((message) => (message.role === 'user' ? change(message) : message));
    if (changed.every((message, at) => message === recent[at])) return;
    const before = messages.slice(0, messages.length - recent.length);
    this.request = this.request.withMessages([...before, ...changed]);
  }

  private newText(): string {
    const texts = newMessages(this.request.prompt.messages).flatMap((message) =>
      message.role === 'user' ? textOf(message.content) : [],
    );
    return texts.join('\n');
  }

  private decide(hits: readonly Hit[]): void {
    if (this.subscriber.closed) return;
    const stop = stopOf(hits);
    const kinds = kindsOf(hits, 'mark');
    this.report(hits);
    if (stop) return this.refuse(stop);
    if (kinds.length > 0)
      this.changeNewMessages((message) => {
        const guard = [message.metadata?.['guard'] ?? [], kinds].flat();
        return { ...message, metadata: { ...message.metadata, guard } };
      });
    this.pass(this.subscriber);
  }

  private pass(subscriber: Subscriber<ChatEvent>, request = this.request): void {
    this.chain.next(request).subscribe(subscriber);
  }

  /** Lets the model work; the guard of its answer waits for the verdict at the gate. */
  private passBeside(verdict: Promise<readonly Hit[]>, key: ContextKey<Gate | undefined>): void {
    const gate = new Gate(verdict.then((hits) => !stopOf(hits)));
    const rest = new Rest(this.subscriber);
    verdict.then(
      (hits) => {
        if (this.subscriber.closed) return;
        this.report(hits);
        const stop = stopOf(hits);
        if (!stop) return;
        rest.unsubscribe();
        this.refuse(stop);
      },
      (error: unknown) => {
        rest.unsubscribe();
        this.fail(error);
      },
    );
    this.pass(rest, this.request.withContext(key, gate));
  }

  private report(hits: readonly Hit[]): void {
    for (const event of guardEvents(this.policies, hits)) this.subscriber.next(event);
  }

  private refuse(stop: Hit): void {
    if (stop.policy.action === 'throw') return this.fail(this.policies.error(stop));
    const response = blockedAnswer(stop);
    const { context, mode } = this.request;
    if (mode === 'stream') for (const delta of toDeltas(response)) this.subscriber.next(delta);
    this.subscriber.next({ type: 'response', response, context });
    this.subscriber.complete();
  }

  private fail(error: unknown): void {
    this.subscriber.error(error);
  }
}

/** The events of the rest of the chain, which can be ended alone. */
class Rest extends Subscriber<ChatEvent> {
  constructor(subscriber: Subscriber<ChatEvent>) {
    super(subscriber);
  }
}
