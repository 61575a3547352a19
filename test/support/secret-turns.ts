import { lastValueFrom } from 'rxjs';
import { z } from 'zod';
import {
  AdvisorOrder,
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  IncompleteResponseError,
  InMemoryChatMemoryRepository,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  ModelCallError,
  ToolCallingAdvisor,
  ToolCallingManager,
  ToolError,
  ToolSearchAdvisor,
  type Advisor,
  type ChatModel,
  type Message,
  type Tool,
} from '../../src/index.js';
import { ScriptedChatModel, type Script, type ScriptedParts } from '../../src/testing/index.js';
import type { Mode } from './modes.js';

/** Prefix of every planted secret. */
export const SECRET = 'sk-canary-7f3a';
/** The secret of one place. */
export const secret = (place: string): string => `${SECRET}-${place}`;
/** The secret of content that is base64: its beginning is {@link SECRET_BASE64}. */
const asBase64 = (text: string): string => Buffer.from(text).toString('base64');
export const SECRET_BASE64 = asBase64(SECRET.slice(0, 12));

/** A turn with secrets in its messages, arguments, results and errors. */
export interface SecretTurn {
  readonly name: string;
  readonly script: Script;
  readonly tools?: readonly Tool[];
  readonly advisors?: () => readonly Advisor[];
  /** @default 'success' */
  readonly ends?: 'success' | 'error' | 'cancelled';
}

/** An error with secrets in all its fields. */
function leaky<E extends Error>(error: E): E {
  error.stack = `${error.name}: ${error.message}\n    at ${secret('stack')} (file.js:1:1)`;
  return Object.assign(error, { cause: new Error(secret('cause')), detail: secret('detail') });
}

const thrown = (): Error => leaky(new RangeError(secret('thrown')));
const refusal = (): Error =>
  leaky(
    new ModelCallError(secret('model-error'), {
      status: 503,
      providerCode: secret('provider-code'),
      providerMessage: secret('provider-message'),
      partialText: secret('partial-text'),
    }),
  );

const look = defineTool({
  name: 'look',
  description: secret('description'),
  input: z.object({ at: z.string().describe(secret('parameter')) }),
  execute: async (_args, { progress }) => {
    progress({ seen: secret('progress') });
    return { found: secret('result') };
  },
});
const failing = (name: string, fail: () => unknown): Tool =>
  defineTool({ name, execute: () => Promise.reject(fail()) });
const stop = defineTool({
  name: 'stop',
  execute: (_args, { get }) => get(ABORT).abort(new Error(secret('reason'))),
});
const ABORT = { name: 'abort', defaultValue: new AbortController() };

const asks = (...calls: readonly (readonly [name: string, args?: string])[]): ScriptedParts => ({
  text: secret('preamble'),
  toolCalls: calls.map(([name, args = JSON.stringify({ at: secret('argument') })]) => ({
    name,
    arguments: args,
  })),
  metadata: { opaque: secret('metadata') },
});
const answer: ScriptedParts = {
  text: secret('answer'),
  reasoning: secret('reasoning'),
  metadata: { opaque: secret('metadata') },
};
const nothing: ScriptedParts = { refusal: secret('refusal'), finishReason: 'content_filter' };

const limited = (onLimit: 'answer' | 'throw' | 'return'): SecretTurn => ({
  name: `a limit of iterations, ${onLimit}`,
  ends: onLimit === 'throw' ? 'error' : 'success',
  script: [asks(['look']), asks(['look'])],
  advisors: () => [new ToolCallingAdvisor({ maxIterations: 1, onLimit })],
});
const memory = (repository = new InMemoryChatMemoryRepository()): Advisor =>
  new MessageChatMemoryAdvisor({
    chatMemory: new MessageWindowChatMemory({ repository }),
    storeToolMessages: true,
  });
const throwing = (order: number): Advisor =>
  defineAdvisor({
    name: 'throwing',
    order,
    after: () => {
      throw thrown();
    },
  });

export const SECRET_TURNS: readonly SecretTurn[] = [
  { name: 'success', script: [asks(['look'], ['look']), answer] },
  { name: 'a refusal', script: [nothing] },
  {
    name: 'tools that fail',
    script: [asks(['throws'], ['explains'], ['throwsText'], ['throwsObject']), answer],
    tools: [
      failing('throws', thrown),
      failing('explains', () => leaky(new ToolError(secret('tool-error')))),
      failing('throwsText', () => secret('thrown-text')),
      failing('throwsObject', () => ({
        code: secret('thrown-object'),
        name: secret('thrown-name'),
      })),
    ],
  },
  {
    name: 'a tool that fails the turn',
    ends: 'error',
    script: [asks(['throws'])],
    tools: [failing('throws', thrown)],
    advisors: () => [
      new ToolCallingAdvisor({ manager: new ToolCallingManager({ onToolError: 'throw' }) }),
    ],
  },
  {
    name: 'a tool that is retried, and one that times out',
    script: [asks(['flaky'], ['slow']), answer],
    tools: [
      defineTool({
        name: 'flaky',
        effect: 'read',
        retries: 1,
        execute: () => Promise.reject(thrown()),
      }),
      defineTool({ name: 'slow', timeout: 1, execute: () => new Promise<never>(() => undefined) }),
    ],
  },
  {
    name: 'invalid arguments',
    script: [
      asks(['look', `{"at":["${secret('invalid')}"]}`], ['look', `{"at": ${secret('broken')}`]),
      answer,
    ],
  },
  { name: 'an unknown tool', script: [asks([secret('tool-name')], ['look']), answer] },
  limited('answer'),
  limited('throw'),
  limited('return'),
  {
    name: 'a limit of calls',
    script: [asks(['look'], ['look']), answer],
    advisors: () => [
      new ToolCallingAdvisor({ manager: new ToolCallingManager({ maxCallsPerTool: 1 }) }),
    ],
  },
  { name: 'a model that rejects the request', ends: 'error', script: [asks(['look']), refusal()] },
  { name: 'a model that breaks', ends: 'error', script: [thrown()] },
  {
    name: 'a model that fails during a stream',
    ends: 'error',
    script: [
      {
        deltas: [secret('one'), secret('two')],
        error: leaky(
          new IncompleteResponseError(secret('cut-off'), { partialText: secret('partial-text') }),
        ),
      },
    ],
  },
  {
    name: 'a cancelled turn',
    ends: 'cancelled',
    script: [asks(['look'], ['stop']), answer],
    tools: [stop],
  },
  {
    name: 'a second call after a failed one',
    script: [refusal(), answer],
    advisors: () => [
      defineAdvisor({
        name: 'again',
        order: AdvisorOrder.RESILIENCE,
        around: async (request, next) => {
          try {
            return await next(request);
          } catch {
            return next(request);
          }
        },
      }),
    ],
  },
  {
    name: 'an advisor of the turn that fails',
    ends: 'error',
    script: [answer],
    advisors: () => [throwing(AdvisorOrder.GUARD)],
  },
  {
    name: 'an advisor of the iteration that fails',
    ends: 'error',
    script: [answer],
    advisors: () => [throwing(AdvisorOrder.RETRIEVAL)],
  },
  { name: 'memory', script: [asks(['look']), answer], advisors: () => [memory()] },
  {
    name: 'a memory that fails',
    ends: 'error',
    script: [answer],
    advisors: () => [
      memory(
        Object.assign(new InMemoryChatMemoryRepository(), {
          append: () => Promise.reject(thrown()),
        }),
      ),
    ],
  },
  {
    name: 'tool search',
    script: [
      asks(['tool_search', JSON.stringify({ query: secret('query') })]),
      asks(['look']),
      answer,
    ],
    advisors: () => [new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex() })],
  },
];

const HISTORY: readonly Message[] = [
  { role: 'user', content: secret('earlier'), metadata: { opaque: secret('metadata') } },
  {
    role: 'assistant',
    content: null,
    toolCalls: [
      { id: 'call_0', name: 'look', arguments: JSON.stringify({ at: secret('earlier-argument') }) },
    ],
  },
  {
    role: 'tool',
    toolCallId: 'call_0',
    toolName: 'look',
    content: [{ type: 'text', text: secret('earlier-result') }],
  },
  {
    role: 'user',
    content: [
      { type: 'image', url: `https://example.org/${secret('image-url')}.png` },
      { type: 'image', url: `data:image/png;base64,${asBase64(secret('data-url'))}` },
      { type: 'audio', data: asBase64(secret('data')), mediaType: 'audio/wav' },
      { type: 'raw', value: { file: secret('raw') } },
    ],
  },
];

/** Runs a turn to its end, with these advisors. */
export async function runSecretTurn(
  mode: Mode,
  turn: SecretTurn,
  observers: readonly Advisor[],
  model?: ChatModel,
): Promise<unknown> {
  const controller = new AbortController();
  const spec = ChatClient.create(model ?? new ScriptedChatModel(turn.script))
    .prompt(secret('prompt'))
    .system(secret('system'))
    .messages(...HISTORY)
    .options({
      user: secret('user'),
      metadata: { trace: secret('option') },
      extraBody: { key: secret('extra') },
    })
    .tools(look, ...(turn.tools ?? []))
    .toolContext({ tenant: secret('tool-context'), abort: controller })
    .advisors((a) => a.param(CONVERSATION_ID, 'anna-7'))
    .advisors(...observers, ...(turn.advisors?.() ?? []))
    .signal(controller.signal);
  const done =
    mode === 'call' ? spec.call().content() : lastValueFrom(spec.stream().chatResponse());
  return done.catch((error: unknown) => error);
}
