import { ChatClientRequest } from '../../core/advisor/chat-client-request.js';
import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { Citation } from '../../core/chat/citation.js';
import { ChatResponse } from '../../core/chat/chat-response.js';
import { AdvisorContext, ContextKey } from '../../core/chat/context.js';
import type { Message, ToolCall } from '../../core/chat/message.js';
import { Prompt } from '../../core/chat/prompt.js';
import { defineTool } from '../../core/tool/define-tool.js';
import type { Tool } from '../../core/tool/tool.js';

/** The user of a run. Every text of a run has the name, so texts of other runs stand out. */
export const USER = new ContextKey<string>('advisor-chain.contract.user', 'none');

/** Set by the rest of the chain. */
export const ANSWERED_USER = new ContextKey<string>('advisor-chain.contract.answered-user', 'none');

/** Text at the end of an answer. */
export const ENDING = new ContextKey<string>('advisor-chain.contract.ending', '');

/** Metadata and provider options that no advisor knows. */
export const CANARY = { 'advisor-chain.contract': 'unknown' } as const;

/** An event of a type that no advisor knows. */
export const UNKNOWN_EVENT = { type: 'advisor-chain.contract', data: 42 } as unknown as ChatEvent;

/** A source of the answer. */
export const CITATION: Citation = { url: 'https://example.com/', raw: CANARY };

/** One behaviour of the rest of the chain. */
export interface Scenario {
  readonly name: string;
  /** @param attempt how often the rest was subscribed before in the run */
  readonly eventsFor: (
    user: string,
    request: ChatClientRequest,
    attempt: number,
  ) => readonly ChatEvent[];
  /** Error in place of the completion. */
  readonly error?: unknown;
  /** Number of attempts that fail with the error. @default all */
  readonly failures?: number;
  /** True if the first attempt is slower than those after it. */
  readonly startsSlowly?: boolean;
}

const CALL_FIELDS = { id: 'call_1', name: 'echo', arguments: '{"text":"hi"}' };
const CALL: ToolCall = { ...CALL_FIELDS, metadata: CANARY };
const CALL_DELTA: ChatEvent = { type: 'tool-call-delta', index: 0, ...CALL_FIELDS };

/** An answer with everything that advisors must pass on. */
export const ANSWER: Scenario = {
  name: 'an answer',
  eventsFor: (user, { context }) => [
    ...textDeltas('Hello ', `${user}.`, ...context.get(ENDING)),
    { type: 'citation', citation: CITATION },
    UNKNOWN_EVENT,
    responseEvent(user, `Hello ${user}.${context.get(ENDING)}`),
  ],
};

/** An answer after a first attempt, whose deltas the rest of the chain retracts. */
export const RETRACTED: Scenario = {
  name: 'a second attempt',
  eventsFor: (user, request, attempt) => [
    { type: 'reasoning-delta', text: `Now ${user}. ` },
    ...textDeltas(`Helo ${user}`),
    { type: 'retract', iteration: 0 },
    ...ANSWER.eventsFor(user, request, attempt),
  ],
};

/** The scenarios in which the rest of the chain succeeds. */
export const SCENARIOS: readonly Scenario[] = [
  ANSWER,
  { name: 'an empty answer', eventsFor: (user) => [responseEvent(user, '')] },
  {
    name: 'a turn with tools',
    eventsFor: (user, request, attempt) => [
      ...textDeltas(`One moment, ${user}. `),
      CALL_DELTA,
      { type: 'iteration', index: 0, response: response(user, `One moment, ${user}. `, [CALL]) },
      { type: 'tool-call', toolName: CALL.name, call: CALL },
      { type: 'tool-start', toolName: CALL.name, call: CALL },
      { type: 'tool-progress', toolName: CALL.name, call: CALL, data: { of: user } },
      { type: 'tool-result', toolName: CALL.name, call: CALL, result: { content: user } },
      { type: 'reasoning-delta', text: user },
      ...ANSWER.eventsFor(user, request, attempt),
    ],
  },
  RETRACTED,
  {
    name: 'an answer that calls a tool',
    eventsFor: (user, request, attempt) =>
      request.prompt.messages.at(-1)?.role === 'tool'
        ? ANSWER.eventsFor(user, request, attempt)
        : [
            ...textDeltas(`One moment, ${user}.`),
            CALL_DELTA,
            responseEvent(user, `One moment, ${user}.`, [CALL]),
          ],
  },
];

/** The scenarios in which the rest of the chain fails. */
export function failures(error: unknown): readonly Scenario[] {
  return [
    { name: 'an immediate error', eventsFor: () => [], error },
    { name: 'an error after deltas', eventsFor: (user) => textDeltas('Hello ', user), error },
  ];
}

/** The scenarios for advisors that subscribe the rest of the chain several times. */
export function attempts(error: unknown): readonly Scenario[] {
  const name = 'attempts with different answers';
  const different: Scenario['eventsFor'] = (user, _request, attempt) => [
    ...textDeltas(`Answer ${attempt} `, 'is for ', `${user}.`),
    responseEvent(user, `Answer ${attempt} is for ${user}.`),
  ];
  const eventsFor: Scenario['eventsFor'] = (user, request, attempt) =>
    attempt === 0 ? textDeltas('Helo ', user) : different(user, request, attempt);
  return [
    { name: 'deltas, an error and another attempt', eventsFor, error, failures: 1 },
    { name, eventsFor: different },
    { name: `${name}, the first of which is slow`, eventsFor: different, startsSlowly: true },
    ...failures(error),
  ];
}

function textDeltas(...texts: readonly string[]): readonly ChatEvent[] {
  return texts.map((text) => ({ type: 'text-delta', text }));
}

/** The chain adds the context of the request. */
function responseEvent(user: string, text: string, calls?: readonly ToolCall[]): ChatEvent {
  const context = AdvisorContext.empty.with(ANSWERED_USER, user);
  return { type: 'response', response: response(user, text, calls), context };
}

function response(user: string, text: string, toolCalls: readonly ToolCall[] = []): ChatResponse {
  const finishReason = toolCalls.length > 0 ? 'tool_calls' : 'stop';
  const message = { role: 'assistant', content: text, toolCalls, metadata: CANARY } as const;
  const citations = toolCalls.length > 0 ? [] : [CITATION];
  return new ChatResponse({
    generations: [{ message, finishReason, citations, metadata: CANARY }],
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    id: `id of ${user}`,
    model: 'contract',
    metadata: CANARY,
  });
}

/** Made once: the schema of a tool costs more than a run. */
const ECHO = defineTool({
  name: 'echo',
  input: { type: 'object', properties: { text: { type: 'string' } } },
  execute: async ({ text }, { progress }) => {
    progress('started');
    await new Promise((resolve) => setImmediate(resolve));
    return text;
  },
});

/** @param running keeps the signals of the calls that run */
export function echoTool(running = new Set<AbortSignal>()): Tool {
  return {
    ...ECHO,
    call: async (input, context) => {
      running.add(context.signal);
      const result = await ECHO.call(input, context);
      running.delete(context.signal);
      return result;
    },
  };
}

/** A request whose messages, options, tools and context contain values that no advisor knows. */
export function sampleRequest(
  mode: ChatClientRequest['mode'],
  user: string,
  tool: Tool,
  messages: readonly Message[] = [
    { role: 'system', content: 'Be brief.', metadata: CANARY },
    { role: 'user', content: `I am ${user}.`, metadata: CANARY },
  ],
): ChatClientRequest {
  return new ChatClientRequest({
    prompt: new Prompt(messages, { model: 'contract', extraBody: CANARY }),
    mode,
    tools: [tool],
    toolContext: CANARY,
    context: AdvisorContext.empty.with(USER, user),
  });
}

/** Requests with tool calls: each ends with a question or the results of all calls before it. */
export function historiesWithTools(): readonly (readonly Message[])[] {
  const call = (id: string): ToolCall => ({ id, name: 'echo', arguments: '{}' });
  const batch = (...ids: readonly string[]): readonly Message[] => [
    { role: 'assistant', content: null, toolCalls: ids.map(call) },
    ...ids.map((id): Message => ({ role: 'tool', toolCallId: id, toolName: 'echo', content: id })),
  ];
  const all: readonly Message[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'One?' },
    ...batch('a1'),
    ...batch('b1', 'b2'),
    { role: 'assistant', content: 'One.' },
    { role: 'user', content: 'Two?' },
    ...batch('c1', 'c2', 'c3'),
    ...batch('d1'),
  ];
  return all.flatMap(({ role }, at) => {
    const isWhole = role === 'user' || (role === 'tool' && all[at + 1]?.role !== 'tool');
    return isWhole ? [all.slice(0, at + 1)] : [];
  });
}
