import { callsOf } from '../../core/chat/message.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { ChatClient, PromptSpec } from '../../core/client/chat-client.js';
import type { StreamResult } from '../../core/client/stream-result.js';
import { ModelCallError } from '../../core/errors/errors.js';
import {
  checkOption,
  checkOptions,
  FUNCTION,
  TEXT,
  withMethods,
} from '../../core/internal/options.js';
import { fromCallOptions } from './from-call-options.js';
import { fromModelMessages } from './from-model-messages.js';
import type { AiSdkMessage } from './model-message.js';
import type {
  AiSdkCallOptions,
  ContentV3,
  FinishV3,
  GenerateResultV3,
  LanguageModelV3,
  StreamPartV3,
  WarningV3,
} from './language-model.js';

/** Options of {@link asLanguageModel}. */
export interface LanguageModelOptions {
  /** Name of the model for the application. @default 'chat-client' */
  readonly modelId?: string | undefined;
  /**
   * Prepares each request: conversation id, tool context, advisors, by the options of the
   * application (`providerOptions`, `headers`).
   * @default the request of the client with the messages and options of the application
   */
  readonly prepare?: ((request: PromptSpec, options: AiSdkCallOptions) => PromptSpec) | undefined;
}

const NAME = 'asLanguageModel';

/**
 * A client as a language model for applications of the AI SDK (`generateText`, `streamText`). Each
 * request is a turn of the client with its advisors and tools; tools of the application are not
 * offered, which a warning of the answer reports.
 *
 * @throws {@link InvalidArgumentError} if an argument is invalid
 */
export function asLanguageModel(
  client: ChatClient,
  options: LanguageModelOptions = {},
): LanguageModelV3 {
  checkOption(NAME, 'client', client, withMethods('a ChatClient', 'prompt', 'mutate'));
  checkOptions(NAME, options, { modelId: TEXT, prepare: FUNCTION });
  const { modelId = 'chat-client', prepare } = options;
  const requestOf = (call: AiSdkCallOptions): PromptSpec => {
    const { prompt, abortSignal } = call;
    const spec = client
      .prompt()
      .messages(fromModelMessages(prompt as readonly AiSdkMessage[]))
      .options(fromCallOptions({ ...call }));
    const request = abortSignal ? spec.signal(abortSignal) : spec;
    return prepare ? prepare(request, call) : request;
  };
  return {
    specificationVersion: 'v3',
    provider: 'advisor-chain',
    modelId,
    // the models of the client decide what they fetch
    supportedUrls: { '*/*': [/^https?:/] },
    doGenerate: (call) => generate(call, requestOf),
    doStream: async (call) => ({ stream: toPartStream(call, requestOf(call).stream()) }),
  };
}

async function generate(
  options: AiSdkCallOptions,
  requestOf: (options: AiSdkCallOptions) => PromptSpec,
): Promise<GenerateResultV3> {
  try {
    const response = await requestOf(options).call().chatResponse();
    const { text, message } = response;
    const { reasoning = '' } = message;
    const content: ContentV3[] = [
      ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      ...(text ? [{ type: 'text' as const, text }] : []),
      ...sourcesOf(response),
      ...openCalls(response),
    ];
    const warnings = warningsOf(options);
    return { content, warnings, response: metadataOf(response), ...finishOf(response) };
  } catch (error) {
    throw toCallerError(error, options.abortSignal);
  }
}

/** Deltas as they arrive; what only the complete answer has follows them. */
function toPartStream(
  options: AiSdkCallOptions,
  result: StreamResult,
): ReadableStream<StreamPartV3> {
  const texts = result[Symbol.asyncIterator]();
  let isOpen = false;
  const pull = async (controller: ReadableStreamDefaultController<StreamPartV3>): Promise<void> => {
    try {
      const next = await texts.next();
      if (next.done !== true) {
        if (!isOpen) controller.enqueue({ type: 'text-start', id: 'text' });
        isOpen = true;
        return controller.enqueue({ type: 'text-delta', id: 'text', delta: next.value });
      }
      if (isOpen) controller.enqueue({ type: 'text-end', id: 'text' });
      const { chatResponse } = await result.finalResponse();
      for (const part of lastParts(chatResponse)) controller.enqueue(part);
    } catch (error) {
      controller.enqueue({ type: 'error', error: toCallerError(error, options.abortSignal) });
    }
    controller.close();
  };
  const start = (controller: ReadableStreamDefaultController<StreamPartV3>): void =>
    controller.enqueue({ type: 'stream-start', warnings: warningsOf(options) });
  const cancel = async (): Promise<void> => {
    await texts.return?.();
  };
  // without a buffer, nothing runs before the first read
  return new ReadableStream({ start, pull, cancel }, { highWaterMark: 0 });
}

function lastParts(response: ChatResponse): readonly StreamPartV3[] {
  const { reasoning = '' } = response.message;
  const id = 'reasoning';
  const thoughts: readonly StreamPartV3[] = [
    { type: 'reasoning-start', id },
    { type: 'reasoning-delta', id, delta: reasoning },
    { type: 'reasoning-end', id },
  ];
  return [
    ...(reasoning === '' ? [] : thoughts),
    ...sourcesOf(response),
    ...openCalls(response),
    { type: 'response-metadata', ...metadataOf(response) },
    { type: 'finish', ...finishOf(response) },
  ];
}

/** Citations with an address; sources of documents need a media type, which is not known. */
function sourcesOf({ citations }: ChatResponse): Extract<ContentV3, { type: 'source' }>[] {
  return citations.flatMap(({ url, title }, at) => {
    const source = { type: 'source', sourceType: 'url', id: `source-${at}` } as const;
    return url === undefined ? [] : { ...source, url, ...(title !== undefined && { title }) };
  });
}

/** Calls that the chain has left to its application. */
function openCalls({ message }: ChatResponse): Extract<ContentV3, { type: 'tool-call' }>[] {
  return callsOf(message).map(({ id, name, arguments: input }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input,
  }));
}

function metadataOf({ id, model }: ChatResponse): GenerateResultV3['response'] {
  return { ...(id !== undefined && { id }), ...(model !== undefined && { modelId: model }) };
}

const UNIFIED = ['stop', 'length', 'content-filter', 'tool-calls'] as const;

function finishOf(response: ChatResponse): FinishV3 {
  const { finishReason: raw, usage } = response;
  const name = response.hasToolCalls() ? 'tool-calls' : raw?.toLowerCase().replace('_', '-');
  const cacheRead = usage?.cachedInputTokens;
  return {
    finishReason: { unified: UNIFIED.find((each) => each === name) ?? 'other', raw },
    usage: {
      inputTokens: {
        total: usage?.inputTokens,
        noCache: usage && cacheRead !== undefined ? usage.inputTokens - cacheRead : undefined,
        cacheRead,
        cacheWrite: usage?.cacheWriteTokens,
      },
      outputTokens: {
        total: usage?.outputTokens,
        text: undefined,
        reasoning: usage?.reasoningTokens,
      },
    },
  };
}

function warningsOf({ tools = [] }: AiSdkCallOptions): WarningV3[] {
  const details = 'the chain runs its own tools: register them at its client';
  return tools.length > 0 ? [{ type: 'unsupported', feature: 'tools', details }] : [];
}

/** Marks by which the AI SDK recognizes its errors across copies of its packages. */
const MARKS = ['vercel.ai.error', 'vercel.ai.error.AI_APICallError'].map((name) =>
  Symbol.for(name),
);

/**
 * Converts an error of a turn to one that the AI SDK knows. None is to be retried: the chain has
 * retried what it may, and tools may have run.
 */
function toCallerError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return abortError(signal.reason, error);
  if (!(error instanceof ModelCallError)) return error;
  const { message, status, providerMessage } = error;
  const fields = {
    name: 'AI_APICallError',
    url: error.url ?? '',
    requestBodyValues: {},
    statusCode: status,
    responseBody: providerMessage,
    isRetryable: false,
  };
  const marks = Object.fromEntries(MARKS.map((mark) => [mark, true]));
  return Object.assign(new Error(message, { cause: error }), fields, marks);
}

/** The reason of the signal if it is an abort, else one. */
function abortError(reason: unknown, cause: unknown): unknown {
  const isAbort = reason instanceof Error && /^(Abort|Timeout)Error$/.test(reason.name);
  if (isAbort) return reason;
  return Object.assign(new Error('The request was aborted.', { cause }), { name: 'AbortError' });
}
