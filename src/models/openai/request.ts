import type { ChatOptions, ResponseFormat } from '../../core/chat/chat-options.js';
import type { AssistantMessage, Message, ToolCall } from '../../core/chat/message.js';
import type { MessageFold, Prompt } from '../../core/chat/prompt.js';
import type { OfferedTool, ToolDefinition } from '../../core/chat/tool-definition.js';
import { memoize } from '../../core/internal/memoize.js';
import type { JsonObject } from '../../core/internal/options.js';
import { keptFields } from '../http/fields.js';
import { toChatMessages, toFunctionCall, toFunctionTool } from '../http/chat-completions.js';
import { toContent } from './content.js';
import { KEY } from './echoed-fields.js';
import { toStrictSchema } from './strict-schema.js';

/** The body of a request, from messages and the fields of {@link toOptionFields}. */
export function toRequestBody(messages: readonly Message[], fields: JsonObject): JsonObject {
  return { messages: toMessages(messages), ...fields };
}

/**
 * The body of a request as JSON text, equal to {@link toRequestBody}. Each message and the
 * fields are written only once along a growing prompt: a tool loop sends its whole history in
 * every iteration.
 */
export function toRequestText(
  prompt: Prompt,
  fields: JsonObject,
  append: MessageFold<string> = appendMessages,
): string {
  if ('messages' in fields) return JSON.stringify(fields); // an extra field of the caller
  return joinBody('messages', prompt.fold(append), fields);
}

/** The JSON text of a body with a list, given as the JSON text of its elements, and other fields. */
export function joinBody(name: string, elements: string, fields: JsonObject): string {
  const parts = [`"${name}":[${elements}]`, fieldsText(fields)];
  return `{${parts.filter((part) => part !== '').join(',')}}`;
}

/** Appends messages to the JSON text of those before them. */
export function appendMessages(before: string | undefined, added: readonly Message[]): string {
  return appendJson(before, toMessages(added));
}

/** Appends elements of a list to the JSON text of those before them. */
export function appendJson(before: string | undefined, added: readonly JsonObject[]): string {
  const text = JSON.stringify(added).slice(1, -1);
  return before && text ? `${before},${text}` : before || text;
}

/** The fields of an object as JSON, without the braces around them. */
const fieldsText = memoize((fields: JsonObject) => JSON.stringify(fields).slice(1, -1));

/** The fields of a request body that options make; `extraBody` wins. JSON omits undefined ones. */
export function toOptionFields(options: ChatOptions): JsonObject {
  const { tools = [], providerTools = [], responseFormat } = options;
  const hasTools = tools.length + providerTools.length > 0;
  return {
    ...(hasTools && toolFields(tools, providerTools, options)),
    model: options.model,
    temperature: options.temperature,
    top_p: options.topP,
    top_k: options.topK,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    max_tokens: options.maxCompletionTokens === undefined ? options.maxTokens : undefined,
    max_completion_tokens: options.maxCompletionTokens,
    stop: options.stopSequences,
    seed: options.seed,
    logprobs: options.logprobs,
    top_logprobs: options.topLogprobs,
    reasoning_effort: options.reasoningEffort,
    user: options.user,
    metadata: options.metadata,
    response_format: responseFormat && toFormat(responseFormat),
    ...options.extraBody,
  };
}

/** Fields of a streamed request; `stream_options` of the caller win. */
export function toStreamFields(fields: JsonObject, withUsage: boolean): JsonObject {
  return { ...(withUsage && { stream_options: { include_usage: true } }), ...fields, stream: true };
}

function toFormat(format: ResponseFormat): JsonObject {
  if (format === 'text') return { type: 'text' };
  if (format === 'json') return { type: 'json_object' };
  const { name = 'response', strict = true, schema } = format;
  return {
    type: 'json_schema',
    json_schema: { name, strict, schema: strict ? toStrictSchema(schema) : schema },
  };
}

function toolFields(
  tools: readonly OfferedTool[],
  providerTools: readonly JsonObject[],
  { strictTools, toolChoice, parallelToolCalls }: ChatOptions,
): JsonObject {
  const offered = tools.map(({ definition }) => toOfferedTool(definition, strictTools));
  return {
    tools: [...offered, ...providerTools],
    tool_choice:
      typeof toolChoice === 'object'
        ? { type: 'function', function: { name: toolChoice.tool } }
        : toolChoice,
    parallel_tool_calls: parallelToolCalls,
  };
}

function toOfferedTool(
  { deferLoading, strict: own, ...definition }: ToolDefinition,
  strictTools: boolean | undefined,
): JsonObject {
  const strict = own ?? strictTools;
  const { inputSchema: given } = definition;
  const inputSchema = strict ? toStrictSchema(given) : given;
  const tool = toFunctionTool({ ...definition, inputSchema }, { strict });
  return { ...tool, ...(deferLoading && { defer_loading: true }) };
}

function toMessages(messages: readonly Message[]): JsonObject[] {
  return toChatMessages(messages, { toContent, toAssistantMessage });
}

function toAssistantMessage(message: AssistantMessage): JsonObject {
  const { content: text, toolCalls = [], refusal } = message;
  return {
    role: 'assistant',
    content: text ?? (toolCalls.length > 0 || refusal !== undefined ? null : ''),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toToolCall) }),
    ...(refusal !== undefined && { refusal }),
    ...keptFields(message, KEY),
  };
}

function toToolCall(call: ToolCall): JsonObject {
  return { ...toFunctionCall(call), ...keptFields(call, KEY) };
}
