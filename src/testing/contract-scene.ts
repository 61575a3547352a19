import { onAbort } from '../chat/abort.js';
import type { ChatEvent } from '../chat/chat-event.js';
import { ChatResponse } from '../chat/chat-response.js';
import { AdvisorContext, ContextKey } from '../chat/context.js';
import type { Message, ToolCall } from '../chat/message.js';
import { Prompt } from '../chat/prompt.js';
import { CancelledError } from '../errors.js';
import { Observable, type Subscriber } from '../rxjs.js';
import type { Advisor, AdvisorChain } from '../advisor/advisor.js';
import { ChatClientRequest } from '../advisor/chat-client-request.js';
import { defineTool } from '../tool/define-tool.js';

/** Who asks: every text of a run contains the name, so that a text of another run stands out. */
export const ASKED_BY = new ContextKey<string>('advisor-chain.contract.asked-by', 'nobody');

/** Put into the context by the rest of the chain. */
export const ANSWERED_TO = new ContextKey<string>('advisor-chain.contract.answered-to', 'nobody');

/** Metadata and provider fields that no advisor knows. */
export const CANARY = { 'advisor-chain.contract': 'unknown to you' } as const;

/** An event of a kind that no advisor knows. */
export const UNKNOWN_EVENT = { type: 'advisor-chain.contract', data: 42 } as unknown as ChatEvent;

/** One way in which the rest of the chain behaves. */
export interface Scene {
  readonly name: string;
  /** What the rest says to a request. */
  readonly events: (request: ChatClientRequest, who: string) => readonly ChatEvent[];
  /** Ends with this error in place of a completion. */
  readonly error?: unknown;
}

const CALL: ToolCall = { id: 'call_1', name: 'echo', arguments: '{"text":"hi"}', metadata: CANARY };

const answer: Scene = {
  name: 'an answer',
  events: (request, who) => [...speech('Hello ', `${who}.`), UNKNOWN_EVENT, end(request, who, `Hello ${who}.`)],
};

const emptyAnswer: Scene = { name: 'an empty answer', events: (request, who) => [end(request, who, '')] };

const turn: Scene = {
  name: 'a turn with tools',
  events: (request, who) => [
    ...speech(`Let me see, ${who}. `),
    { type: 'tool-call-delta', index: 0, id: CALL.id, name: CALL.name, arguments: CALL.arguments },
    { type: 'iteration', index: 0, response: response(who, `Let me see, ${who}. `, [CALL]) },
    { type: 'tool-call', call: CALL },
    { type: 'tool-progress', call: CALL, data: { of: who } },
    { type: 'tool-result', call: CALL, result: { content: who } },
    { type: 'reasoning-delta', text: who },
    ...answer.events(request, who),
  ],
};

const retracted: Scene = {
  name: 'a second attempt',
  events: (request, who) => [...speech(`Helo ${who}`), { type: 'retract', iteration: 0 }, ...answer.events(request, who)],
};

const toolCalls: Scene = {
  name: 'an answer that asks for a tool',
  events: (request, who) =>
    request.prompt.messages.at(-1)?.role === 'tool'
      ? answer.events(request, who)
      : [
          ...speech(`One moment, ${who}.`),
          { type: 'tool-call-delta', index: 0, id: CALL.id, name: CALL.name, arguments: CALL.arguments },
          end(request, who, `One moment, ${who}.`, [CALL]),
        ],
};

/** The ways in which the rest of a chain succeeds. */
export const SCENES: readonly Scene[] = [answer, emptyAnswer, turn, retracted, toolCalls];

/** The scene that has something of everything that must be passed on. */
export const PLAIN_SCENE: Scene = answer;

/** The ways in which the rest of a chain fails. */
export function failures(error: unknown): readonly Scene[] {
  return [
    { name: 'an error at once', events: () => [], error },
    { name: 'an error in the middle', events: (_, who) => speech('Hello ', who), error },
  ];
}

function speech(...texts: readonly string[]): ChatEvent[] {
  return texts.map((text) => ({ type: 'text-delta', text }));
}

function end(request: ChatClientRequest, who: string, text: string, calls: readonly ToolCall[] = []): ChatEvent {
  return { type: 'response', response: response(who, text, calls), context: request.context.with(ANSWERED_TO, who) };
}

function response(who: string, text: string, calls: readonly ToolCall[]): ChatResponse {
  const finishReason = calls.length > 0 ? 'tool_calls' : 'stop';
  return new ChatResponse({
    generations: [{ message: { role: 'assistant', text, toolCalls: calls, metadata: CANARY }, finishReason, metadata: CANARY }],
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    id: `id of ${who}`,
    model: 'contract',
    metadata: CANARY,
  });
}

const echo = defineTool({
  name: 'echo',
  input: { type: 'object', properties: { text: { type: 'string' } } },
  execute: async ({ text }, { progress }) => {
    progress('begun');
    await new Promise((resolve) => setImmediate(resolve));
    return text;
  },
});

/** A request as an advisor may get it: messages, options, tools and context with something unknown in each. */
export function sampleRequest(mode: ChatClientRequest['mode'], who = 'anna'): ChatClientRequest {
  const messages: readonly Message[] = [
    { role: 'system', text: 'Be brief.', metadata: CANARY },
    { role: 'user', content: `I am ${who}.`, metadata: CANARY },
  ];
  return new ChatClientRequest({
    prompt: new Prompt(messages, { model: 'contract', extraBody: CANARY }),
    mode,
    tools: [echo],
    toolContext: CANARY,
    context: AdvisorContext.empty.with(ASKED_BY, who),
  });
}

/** When the rest goes on to its next event. */
export type Pace = (goOn: () => void) => void;

/** Without a pause, within the subscription. */
export const AT_ONCE: Pace = (goOn) => goOn();

/** Each event in a task of its own. */
export const STEP_BY_STEP: Pace = (goOn) => void setImmediate(goOn);

/** One subscription of the rest. */
export interface Visit {
  readonly request: ChatClientRequest;
  isOpen: boolean;
  /** Whether it came to its end. */
  isPlayed: boolean;
}

/** The rest of a chain that plays a scene, and notes who came. */
export class Stage implements AdvisorChain {
  readonly visits: Visit[] = [];

  constructor(
    readonly advisors: readonly Advisor[],
    private readonly scene: Scene,
    private readonly pace: Pace = STEP_BY_STEP,
  ) {}

  readonly next = (request: ChatClientRequest): Observable<ChatEvent> =>
    new Observable((subscriber) => {
      const visit: Visit = { request, isOpen: true, isPlayed: false };
      this.visits.push(visit);
      subscriber.add(() => (visit.isOpen = false));
      subscriber.add(onAbort(request.signal, () => subscriber.error(new CancelledError('The signal of the request aborted.'))));
      this.play(visit, subscriber);
    });

  private play(visit: Visit, subscriber: Subscriber<ChatEvent>): void {
    const { request } = visit;
    const events = this.scene
      .events(request, request.context.get(ASKED_BY))
      .filter((event) => request.mode === 'stream' || !isDelta(event));
    const step = (at: number): void => {
      if (subscriber.closed) return;
      if (at < events.length) {
        subscriber.next(events[at] as ChatEvent);
        this.pace(() => step(at + 1));
        return;
      }
      visit.isPlayed = true;
      if ('error' in this.scene) subscriber.error(this.scene.error);
      else subscriber.complete();
    };
    this.pace(() => step(0));
  }
}

/** Whether an event belongs to streams only. */
export function isDelta(event: ChatEvent): boolean {
  return event.type.endsWith('-delta') || event.type === 'retract';
}
