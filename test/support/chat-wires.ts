import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ChatModel } from '../../src/index.js';
import { AiSdkChatModel } from '../../src/models/ai-sdk/index.js';
import { AnthropicChatModel } from '../../src/models/anthropic/index.js';
import { CohereChatModel } from '../../src/models/cohere/index.js';
import { GoogleChatModel } from '../../src/models/google/index.js';
import type { HttpChatModelOptions } from '../../src/models/http/http-chat-model.js';
import { OllamaChatModel } from '../../src/models/ollama/index.js';
import { OpenAIChatModel, OpenAIResponsesModel } from '../../src/models/openai/index.js';

/** A key that no error may show. */
export const KEY = 'canary-key-4711-abcdef';
/** The text and the call of the answers below. */
export const TEXT = 'Good mörning';
export const CALL = { name: 'now', arguments: { zone: 'UTC' } };

/** Options that all models have. */
export type WireOptions = Omit<HttpChatModelOptions, 'model'>;

/** Differences of a wire whose requests are sent by a package of another project. */
export interface WireExceptions {
  /** Error for a page with status 200: the package keeps back its type. */
  readonly page: Readonly<Record<'call' | 'stream', string>>;
  /** The `fetch` of the package follows redirects, to another origin without `authorization`. */
  readonly followsRedirects: true;
  /**
   * Recorded streams with a finish reason after each call: cut after the first one they are a shorter
   * answer, because the package reports neither when a finish reason came nor whether its calls ended.
   */
  readonly shortened: readonly string[];
}

/** A wire, with an answer that has the text and one that has the call. */
export interface ChatWire {
  /** Its value of `api` in the recordings. */
  readonly api: string;
  /** Its name in tests. @default `api` */
  readonly name?: string;
  /** @param root address of a server, without the path of the API */
  readonly make: (root: string, options?: WireOptions) => ChatModel;
  /** Header `content-type` of a stream. */
  readonly streamType: string;
  /** Pieces of a stream, one per event. */
  readonly textEvents: readonly string[];
  readonly callEvents: readonly string[];
  /** The text as one document. */
  readonly textDocument: unknown;
  /** The body of a failed request. */
  readonly errorBody: (message: string) => unknown;
  /** An event that ends a stream with an error. */
  readonly errorEvent: (message: string) => string;
  readonly exceptions?: WireExceptions;
}

const options = (more: WireOptions | undefined) => ({
  model: 'm',
  apiKey: KEY,
  maxRetries: 0,
  ...more,
});
const data = (payload: unknown): string =>
  `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`;
/** An event with the name of its type. */
const typed = (payload: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${payload.type}\n${data(payload)}`;
const line = (payload: unknown): string => `${JSON.stringify(payload)}\n`;

const EVENTS = 'text/event-stream';
const [FIRST, REST] = [TEXT.slice(0, 6), TEXT.slice(6)];
const INPUT = JSON.stringify(CALL.arguments);

const completionChunk = (delta: object, reason: string | null = null): string =>
  data({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] });
const toolCall = (fields: object): object => ({ tool_calls: [{ index: 0, ...fields }] });

const completions: ChatWire = {
  api: 'chat.completions',
  make: (root, more) => new OpenAIChatModel({ ...options(more), baseURL: `${root}/v1` }),
  streamType: EVENTS,
  textEvents: [
    completionChunk({ role: 'assistant', content: FIRST }),
    completionChunk({ content: REST }),
    completionChunk({}, 'stop'),
    data('[DONE]'),
  ],
  callEvents: [
    completionChunk(
      toolCall({ id: 'a', type: 'function', function: { name: CALL.name, arguments: '' } }),
    ),
    completionChunk(toolCall({ function: { arguments: INPUT } })),
    completionChunk({}, 'tool_calls'),
    data('[DONE]'),
  ],
  textDocument: {
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
  },
  errorBody: (message) => ({ error: { message, type: 'server_error' } }),
  errorEvent: (message) => data({ error: { message } }),
};

const cohereDelta = (type: string, message: object): string =>
  typed({ type, index: 0, delta: { message } });
const cohereEnd = (reason: string): string =>
  typed({ type: 'message-end', delta: { finish_reason: reason } });

const cohere: ChatWire = {
  api: 'cohere.chat.v2',
  make: (root, more) => new CohereChatModel({ ...options(more), baseURL: root }),
  streamType: EVENTS,
  textEvents: [
    cohereDelta('message-start', { role: 'assistant' }),
    cohereDelta('content-start', { content: { type: 'text', text: FIRST } }),
    cohereDelta('content-delta', { content: { text: REST } }),
    cohereDelta('content-end', {}),
    cohereEnd('COMPLETE'),
  ],
  callEvents: [
    cohereDelta('tool-call-start', {
      tool_calls: { id: 'a', type: 'function', function: { name: CALL.name, arguments: '' } },
    }),
    cohereDelta('tool-call-delta', { tool_calls: { function: { arguments: INPUT } } }),
    cohereEnd('TOOL_CALL'),
  ],
  textDocument: {
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', content: [{ type: 'text', text: TEXT }] },
  },
  errorBody: (message) => ({ id: 'e', message }),
  errorEvent: (message) =>
    typed({ type: 'message-end', delta: { finish_reason: 'ERROR', error: message } }),
};

const ollamaPiece = (message: object, more: object = {}): object => ({
  model: 'm',
  message: { role: 'assistant', content: '', ...message },
  done: false,
  ...more,
});
const ollamaEnd = { done: true, done_reason: 'stop' };

const ollama: ChatWire = {
  api: 'ollama.chat',
  make: (root, more) => new OllamaChatModel({ ...options(more), baseURL: root }),
  streamType: 'application/x-ndjson',
  textEvents: [
    line(ollamaPiece({ content: FIRST })),
    line(ollamaPiece({ content: REST })),
    line(ollamaPiece({}, ollamaEnd)),
  ],
  callEvents: [
    line(ollamaPiece({ tool_calls: [{ function: CALL }] })),
    line(ollamaPiece({}, ollamaEnd)),
  ],
  textDocument: ollamaPiece({ content: TEXT }, ollamaEnd),
  errorBody: (error) => ({ error }),
  errorEvent: (error) => line({ error }),
};

const block = (type: string, index: number, fields: object): string =>
  typed({ type: `content_block_${type}`, index, ...fields });
const messageStart = typed({
  type: 'message_start',
  message: {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 3, output_tokens: 1 },
  },
});
const messageEnd = (reason: string): readonly string[] => [
  typed({
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 5 },
  }),
  typed({ type: 'message_stop' }),
];

const messages: ChatWire = {
  api: 'messages',
  make: (root, more) => new AnthropicChatModel({ ...options(more), baseURL: root }),
  streamType: EVENTS,
  textEvents: [
    messageStart + block('start', 0, { content_block: { type: 'text', text: '' } }),
    block('delta', 0, { delta: { type: 'text_delta', text: FIRST } }),
    block('delta', 0, { delta: { type: 'text_delta', text: REST } }),
    block('stop', 0, {}),
    ...messageEnd('end_turn'),
  ],
  callEvents: [
    messageStart,
    block('start', 0, {
      content_block: { type: 'tool_use', id: 'toolu_1', name: CALL.name, input: {} },
    }),
    block('delta', 0, { delta: { type: 'input_json_delta', partial_json: INPUT } }),
    block('stop', 0, {}),
    ...messageEnd('tool_use'),
  ],
  textDocument: {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: TEXT }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 5 },
  },
  errorBody: (message) => ({ type: 'error', error: { type: 'api_error', message } }),
  errorEvent: (message) => typed({ type: 'error', error: { type: 'overloaded_error', message } }),
};

const candidate = (parts: readonly object[], more: object = {}): object => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
  modelVersion: 'm',
});

const generateContent: ChatWire = {
  api: 'generateContent',
  make: (root, more) => new GoogleChatModel({ ...options(more), baseURL: root }),
  streamType: EVENTS,
  textEvents: [
    data(candidate([{ text: FIRST }])),
    data(candidate([{ text: REST }])),
    data(candidate([], { finishReason: 'STOP' })),
  ],
  callEvents: [
    data(candidate([{ functionCall: { name: CALL.name, args: CALL.arguments } }])),
    data(candidate([], { finishReason: 'STOP' })),
  ],
  textDocument: candidate([{ text: TEXT }], { finishReason: 'STOP' }),
  errorBody: (message) => ({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
  errorEvent: (message) => data({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
};

const item = (kind: 'added' | 'done', output_index: number, fields: object): string =>
  typed({ type: `response.output_item.${kind}`, output_index, item: fields });
const outputText = (text: string): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const functionCall = (input: string): object => ({
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_a',
  name: CALL.name,
  arguments: input,
});
const responseOf = (status: string, output: readonly object[]): object => ({
  id: 'resp_1',
  object: 'response',
  model: 'm',
  status,
  error: null,
  output,
});
const created = typed({ type: 'response.created', response: responseOf('in_progress', []) });
const textDelta = (delta: string): string =>
  typed({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta,
  });
const completed = (...output: readonly object[]): string =>
  typed({ type: 'response.completed', response: responseOf('completed', output) });

const responses: ChatWire = {
  api: 'responses',
  make: (root, more) => new OpenAIResponsesModel({ ...options(more), baseURL: `${root}/v1` }),
  streamType: EVENTS,
  textEvents: [
    created + item('added', 0, { ...outputText(''), content: [] }),
    textDelta(FIRST),
    textDelta(REST),
    item('done', 0, outputText(TEXT)),
    completed(outputText(TEXT)),
  ],
  callEvents: [
    created,
    item('added', 0, functionCall('')),
    typed({
      type: 'response.function_call_arguments.delta',
      item_id: 'fc_1',
      output_index: 0,
      delta: INPUT,
    }),
    item('done', 0, functionCall(INPUT)),
    completed(functionCall(INPUT)),
  ],
  textDocument: responseOf('completed', [outputText(TEXT)]),
  errorBody: (message) => ({ error: { message, type: 'server_error', code: null } }),
  errorEvent: (message) => typed({ type: 'error', code: 'server_error', message, param: null }),
};

/** Chat completions by a provider of the AI SDK; its answers are read by the package. */
const bridge: ChatWire = {
  ...completions,
  api: 'chat.completions',
  name: 'chat.completions by the AI SDK',
  make: (root, { fetch, ...limits } = {}) => {
    const provider = createOpenAICompatible({
      name: 'local',
      baseURL: `${root}/v1`,
      apiKey: KEY,
      ...(fetch && { fetch: fetch as typeof globalThis.fetch }),
    });
    return new AiSdkChatModel({ model: provider('m'), maxRetries: 0, ...limits });
  },
  exceptions: {
    page: { call: 'Invalid JSON response', stream: 'finish reason: error' },
    followsRedirects: true,
    shortened: [
      'openllmetry-js.should-set-function-call-attributes-in-span-for-stream-completion-when-multiple-tools-cal#0',
    ],
  },
};

/** All wires; a test runs over each. */
export const CHAT_WIRES: readonly ChatWire[] = [
  completions,
  responses,
  messages,
  generateContent,
  cohere,
  ollama,
  bridge,
];
