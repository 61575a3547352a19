import type { ChatOptions, ResponseFormat } from '../../chat/chat-options.js';
import { ChatResponse, type Generation, type RateLimit } from '../../chat/chat-response.js';
import type { AssistantMessage, ContentPart, MediaPart, Message, Metadata, ToolCall } from '../../chat/message.js';
import type { Prompt } from '../../chat/prompt.js';
import { withUniqueCallIds } from '../../chat/tool-call-ids.js';
import type { OfferedTool, ToolDefinition } from '../../chat/tool-definition.js';
import type { Usage } from '../../chat/usage.js';
import { ModelCallError } from '../../errors.js';
import { toStrictSchema } from './strict-schema.js';

/** A JSON object of the wire, of which nothing is certain. */
export type Wire = Readonly<Record<string, unknown>>;

/** Where the fields of the provider are kept in the metadata of messages and calls. */
const KEY = 'openai';

/** Fields of an answer that the provider wants to see again in the next request. */
export const ECHOED = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thought_signature',
  'extra_content',
  'thinking_blocks',
] as const;

// ---- request

/** The request body: messages, what {@link toWireOptions} made of the options, and how to stream. */
export function toWireRequest(messages: readonly Message[], options: Wire, stream: false | { readonly usage: boolean }): Wire {
  const body = { messages: messages.map(toWireMessage), ...options };
  if (!stream) return body;
  return { ...body, stream: true, ...(stream.usage && !('stream_options' in options) && { stream_options: { include_usage: true } }) };
}

/** The part of a request body that options make; `extraBody` wins. */
export function toWireOptions(options: ChatOptions): Wire {
  const body: Record<string, unknown> = options.tools && options.tools.length > 0 ? toWireTools(options.tools, options) : {};
  const set = (name: string, value: unknown): void => {
    if (value !== undefined) body[name] = value;
  };
  set('model', options.model);
  set('temperature', options.temperature);
  set('top_p', options.topP);
  set('top_k', options.topK);
  set('frequency_penalty', options.frequencyPenalty);
  set('presence_penalty', options.presencePenalty);
  if (options.maxCompletionTokens === undefined) set('max_tokens', options.maxTokens);
  set('max_completion_tokens', options.maxCompletionTokens);
  set('stop', options.stopSequences);
  set('seed', options.seed);
  set('logprobs', options.logprobs);
  set('top_logprobs', options.topLogprobs);
  set('reasoning_effort', options.reasoningEffort);
  set('user', options.user);
  set('metadata', options.metadata);
  set('response_format', options.responseFormat && toWireFormat(options.responseFormat));
  return Object.assign(body, options.extraBody);
}

function toWireFormat(format: ResponseFormat): Wire {
  if (format === 'text') return { type: 'text' };
  if (format === 'json') return { type: 'json_object' };
  const { name = 'response', strict = true, schema } = format;
  return { type: 'json_schema', json_schema: { name, strict, schema: strict ? toStrictSchema(schema) : schema } };
}

function toWireTools(tools: readonly OfferedTool[], { strictTools, toolChoice, parallelToolCalls }: ChatOptions): Record<string, unknown> {
  return {
    tools: tools.map(({ definition }) => toWireTool(definition, definition.strict ?? strictTools)),
    ...(toolChoice !== undefined && {
      tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.tool } },
    }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
  };
}

function toWireTool({ name, description, inputSchema }: ToolDefinition, strict: boolean | undefined): Wire {
  const parameters = strict ? toStrictSchema(inputSchema) : inputSchema;
  return { type: 'function', function: { name, description, parameters, ...(strict !== undefined && { strict }) } };
}

function toWireMessage(message: Message): Wire {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user':
      return { role: 'user', content: toWireContent(message.content) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: toWireContent(message.content) };
    case 'assistant':
      return toWireAssistant(message);
  }
}

function toWireAssistant({ text, toolCalls, refusal, metadata }: AssistantMessage): Wire {
  return {
    role: 'assistant',
    content: text,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toWireCall) }),
    ...(refusal !== undefined && { refusal }),
    ...(metadata?.[KEY] as Wire | undefined),
  };
}

function toWireCall({ id, name, arguments: text, metadata }: ToolCall): Wire {
  return { id, type: 'function', function: { name, arguments: text === '' ? '{}' : text }, ...(metadata?.[KEY] as Wire | undefined) };
}

function toWireContent(content: string | readonly ContentPart[]): unknown {
  return typeof content === 'string' ? content : content.map(toWirePart);
}

function toWirePart(part: ContentPart): unknown {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: addressOf(part) } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: base64Of(part), format: part.mediaType?.split('/')[1]?.replace('mpeg', 'mp3') } };
    case 'file':
      return { type: 'file', file: { ...(part.name !== undefined && { filename: part.name }), file_data: addressOf(part) } };
    case 'raw':
      return part.value;
  }
}

function addressOf(part: MediaPart<string>): string | undefined {
  return part.data === undefined ? part.url : `data:${part.mediaType};base64,${base64Of(part)}`;
}

function base64Of({ data = '' }: MediaPart<string>): string {
  if (typeof data === 'string') return data;
  let bytes = '';
  for (const byte of data) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

// ---- response

/** A complete answer from the body of a response. */
export function fromWireResponse(body: unknown, prompt: Prompt, rateLimit?: RateLimit): ChatResponse {
  if (!isWire(body) || !Array.isArray(body['choices']) || body['choices'].length === 0) {
    throw new ModelCallError(
      'The server answered, but not with a chat completion (no choices). Is the base URL that of an OpenAI-compatible API?',
    );
  }
  return new ChatResponse({
    generations: (body['choices'] as readonly Wire[]).map((choice) => toGeneration(choice, prompt)),
    usage: toUsage(body['usage']),
    id: textOrNone(body['id']),
    model: textOrNone(body['model']),
    rateLimit,
    metadata: otherFields(body, BODY_FIELDS),
  });
}

const BODY_FIELDS: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);
const CHOICE_FIELDS: ReadonlySet<string> = new Set(['index', 'message', 'delta', 'finish_reason']);
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'refusal']);

/** Fields that have no place of their own, as far as they say something. */
export function otherFields(wire: Wire, known: ReadonlySet<string>, others: Record<string, unknown> = {}): Record<string, unknown> {
  for (const name in wire) {
    const value = wire[name];
    if (!known.has(name) && value !== null && !(Array.isArray(value) && value.length === 0)) others[name] = value;
  }
  return others;
}

function toGeneration(choice: Wire, prompt: Prompt): Generation {
  const message = isWire(choice['message']) ? choice['message'] : {};
  const { content, tool_calls: calls, refusal } = message;
  const { text, reasoning } = readContent(content);
  const toolCalls = Array.isArray(calls) ? calls.filter(isFunctionCall).map(fromWireCall) : [];
  const assistant: AssistantMessage = {
    role: 'assistant',
    text: text === '' && (toolCalls.length > 0 || refusal) ? null : text,
    toolCalls,
    ...someText('reasoning', reasoningOf(message) || reasoning),
    ...someText('refusal', refusal),
    ...metadataOf(reasoning === '' ? echoOf(message) : { ...echoOf(message), content }),
  };
  return {
    message: withUniqueCallIds(assistant, prompt.messages),
    ...someText('finishReason', choice['finish_reason']),
    metadata: otherFields(message, MESSAGE_FIELDS, otherFields(choice, CHOICE_FIELDS)),
  };
}

function someText<K extends string>(name: K, value: unknown): { readonly [name in K]?: string } {
  return (typeof value === 'string' && value !== '' ? { [name]: value } : {}) as { readonly [name in K]?: string };
}

/** Calls of tools that the provider runs itself, or of kinds unknown here, are not for us. */
export function isFunctionCall(call: unknown): call is Wire & { readonly function: Wire } {
  return (
    isWire(call) &&
    isWire(call['function']) &&
    (call['type'] === undefined || call['type'] === null || call['type'] === 'function' || call['type'] === '')
  );
}

function fromWireCall(call: Wire & { readonly function: Wire }): ToolCall {
  const { id, type: _type, index: _index, function: called, ...rest } = call;
  return {
    id: textOrNone(id) ?? '',
    name: textOrNone(called['name']) ?? '',
    arguments: argumentsOf(called['arguments']),
    ...metadataOf(echoOf(rest)),
  };
}

/** Arguments as text; some servers send them as an object, or not at all. */
export function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** The texts of a content, which may be a list of parts with thinking among them. */
export function readContent(content: unknown): { readonly text: string; readonly reasoning: string } {
  if (typeof content === 'string') return { text: content, reasoning: '' };
  if (!Array.isArray(content)) return { text: '', reasoning: '' };
  const parts = content.filter(isWire);
  const join = (texts: readonly (string | undefined)[]): string => texts.filter((text) => text !== undefined).join('');
  return {
    text: join(parts.map((part) => (part['type'] === 'thinking' ? undefined : textOrNone(part['text'])))),
    reasoning: join(parts.map((part) => (part['type'] === 'thinking' ? thinkingOf(part['thinking']) : undefined))),
  };
}

function thinkingOf(thinking: unknown): string {
  return typeof thinking === 'string' ? thinking : readContent(thinking).text;
}

/** What the model thought, as far as the provider shows it. */
export function reasoningOf(fields: Wire): string {
  const { reasoning_content: content, reasoning, reasoning_details: details } = fields;
  if (typeof content === 'string' && content !== '') return content;
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  const texts = Array.isArray(details)
    ? details.filter(isWire).map((detail) => textOrNone(detail['text']) ?? textOrNone(detail['summary']) ?? '')
    : [];
  return texts.join('');
}

/** The fields that the provider wants to see again. */
export function echoOf(fields: Wire): Wire {
  const echo: Record<string, unknown> = {};
  for (const name of ECHOED) {
    const value = fields[name];
    if (value !== undefined && value !== null && value !== '') echo[name] = value;
  }
  return echo;
}

/** Metadata that holds fields of the provider; nothing if there are none. */
export function metadataOf(fields: Wire): { readonly metadata?: Metadata } {
  return Object.keys(fields).length > 0 ? { metadata: { [KEY]: fields } } : {};
}

/** Usage as far as it was reported. */
export function toUsage(usage: unknown): Usage | undefined {
  if (!isWire(usage)) return undefined;
  const input = countOf(usage['prompt_tokens']);
  const output = countOf(usage['completion_tokens']);
  const total = countOf(usage['total_tokens']);
  if (input === undefined && output === undefined && total === undefined) return undefined;
  const cached = countOf(detailsOf(usage, 'prompt_tokens_details')['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens']);
  const reasoning = countOf(detailsOf(usage, 'completion_tokens_details')['reasoning_tokens']);
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    totalTokens: total ?? (input ?? 0) + (output ?? 0),
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

function detailsOf(usage: Wire, name: string): Wire {
  const details = usage[name];
  return isWire(details) ? details : {};
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A non-empty text, or nothing. */
export function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether a value is a JSON object. */
export function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
