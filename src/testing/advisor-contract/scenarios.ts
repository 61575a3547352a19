import { ChatClientRequest } from '../../advisor/chat-client-request.js';
import type { ChatEvent } from '../../chat/chat-event.js';
import { ChatResponse } from '../../chat/chat-response.js';
import { AdvisorContext, ContextKey } from '../../chat/context.js';
import type { Message, ToolCall } from '../../chat/message.js';
import { Prompt } from '../../chat/prompt.js';
import { defineTool } from '../../tool/define-tool.js';
import type { Tool } from '../../tool/tool.js';

/** The user of a run. Every text of a run has the name, so texts of other runs stand out. */
export const USER = new ContextKey<string>('advisor-chain.contract.user', 'none');

/** Set by the rest of the chain. */
export const ANSWERED_USER = new ContextKey<string>('advisor-chain.contract.answered-user', 'none');

/** Metadata and provider options that no advisor knows. */
export const CANARY = { 'advisor-chain.contract': 'unknown' } as const;

/** An event of a type that no advisor knows. */
export const UNKNOWN_EVENT = { type: 'advisor-chain.contract', data: 42 } as unknown as ChatEvent;

/** One behaviour of the rest of the chain. */
export interface Scenario {
  readonly name: string;
  readonly eventsFor: (user: string, request: ChatClientRequest) => readonly ChatEvent[];
  /** Error in place of the completion. */
  readonly error?: unknown;
}

const CALL_FIELDS = { id: 'call_1', name: 'echo', arguments: '{"text":"hi"}' };
const CALL: ToolCall = { ...CALL_FIELDS, metadata: CANARY };
const CALL_DELTA: ChatEvent = { type: 'tool-call-delta', index: 0, ...CALL_FIELDS };

/** An answer with everything that advisors must pass on. */
export const ANSWER: Scenario = {
  name: 'an answer',
  eventsFor: (user) => [
    ...textDeltas('Hello ', `${user}.`),
    UNKNOWN_EVENT,
    responseEvent(user, `Hello ${user}.`),
  ],
};

/** The scenarios in which the rest of the chain succeeds. */
export const SCENARIOS: readonly Scenario[] = [
  ANSWER,
  { name: 'an empty answer', eventsFor: (user) => [responseEvent(user, '')] },
  {
    name: 'a turn with tools',
    eventsFor: (user, request) => [
      ...textDeltas(`One moment, ${user}. `),
      CALL_DELTA,
      { type: 'iteration', index: 0, response: response(user, `One moment, ${user}. `, [CALL]) },
      { type: 'tool-call', toolName: CALL.name, call: CALL },
      { type: 'tool-progress', toolName: CALL.name, call: CALL, data: { of: user } },
      { type: 'tool-result', toolName: CALL.name, call: CALL, result: { content: user } },
      { type: 'reasoning-delta', text: user },
      ...ANSWER.eventsFor(user, request),
    ],
  },
  {
    name: 'a second attempt',
    eventsFor: (user, request) => [
      ...textDeltas(`Helo ${user}`),
      { type: 'retract', iteration: 0 },
      ...ANSWER.eventsFor(user, request),
    ],
  },
  {
    name: 'an answer that calls a tool',
    eventsFor: (user, request) =>
      request.prompt.messages.at(-1)?.role === 'tool'
        ? ANSWER.eventsFor(user, request)
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
  const message = { role: 'assistant', text, toolCalls, metadata: CANARY } as const;
  return new ChatResponse({
    generations: [{ message, finishReason, metadata: CANARY }],
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    id: `id of ${user}`,
    model: 'contract',
    metadata: CANARY,
  });
}

/** @param running keeps the signals of the calls that run */
export function echoTool(running = new Set<AbortSignal>()): Tool {
  return defineTool({
    name: 'echo',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    execute: async ({ text }, { progress, signal }) => {
      running.add(signal);
      progress('started');
      await new Promise((resolve) => setImmediate(resolve));
      running.delete(signal);
      return text;
    },
  });
}

/** A request whose messages, options, tools and context contain values that no advisor knows. */
export function sampleRequest(
  mode: ChatClientRequest['mode'],
  user: string,
  tool: Tool,
): ChatClientRequest {
  const messages: readonly Message[] = [
    { role: 'system', text: 'Be brief.', metadata: CANARY },
    { role: 'user', content: `I am ${user}.`, metadata: CANARY },
  ];
  return new ChatClientRequest({
    prompt: new Prompt(messages, { model: 'contract', extraBody: CANARY }),
    mode,
    tools: [tool],
    toolContext: CANARY,
    context: AdvisorContext.empty.with(USER, user),
  });
}
