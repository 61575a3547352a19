import type { ChatOptions, ResponseFormat } from '../../chat/chat-options.js';
import { ChatResponse, type Generation, type RateLimit } from '../../chat/chat-response.js';
import type { AssistantMessage, ContentPart, Message, ToolCall } from '../../chat/message.js';
import type { Prompt } from '../../chat/prompt.js';
import { withUniqueCallIds } from '../../chat/tool-call-ids.js';
import type { OfferedTool, ToolDefinition } from '../../chat/tool-definition.js';
import { ModelCallError } from '../../errors.js';
import { ECHOED, echoedFields, fromMetadata, toMetadata } from './echoed-fields.js';
import { toStrictSchema } from './strict-schema.js';
import { mediaOfResult, textsOfResult, toWireContent } from './wire-content.js';
import { isWire, textOrNone, type Wire } from './wire-json.js';
import { toUsage, usageElsewhere } from './wire-usage.js';

// ---- request

/** How to stream: not at all, or with or without asking for usage. */
export type StreamSettings = false | { readonly usage: boolean };

/** The request body: messages, what {@link toWireOptions} made of the options, and how to stream. */
export function toWireRequest(messages: readonly Message[], options: Wire, stream: StreamSettings): Wire {
  const body = { messages: toWireMessages(messages), ...options };
  if (!stream) return body;
  return { ...body, stream: true, ...(stream.usage && !('stream_options' in options) && { stream_options: { include_usage: true } }) };
}

/** The part of a request body that options make; `extraBody` wins. */
export function toWireOptions(options: ChatOptions): Wire {
  const { tools = [], providerTools = [] } = options;
  const body: Record<string, unknown> = tools.length + providerTools.length > 0 ? toWireTools(tools, providerTools, options) : {};
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

function toWireTools(tools: readonly OfferedTool[], others: readonly Wire[], options: ChatOptions): Record<string, unknown> {
  const { strictTools, toolChoice, parallelToolCalls } = options;
  return {
    tools: [...tools.map(({ definition }) => toWireTool(definition, definition.strict ?? strictTools)), ...others],
    ...(toolChoice !== undefined && {
      tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.tool } },
    }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
  };
}

function toWireTool({ name, description, inputSchema, deferLoading }: ToolDefinition, strict: boolean | undefined): Wire {
  const parameters = strict ? toStrictSchema(inputSchema) : inputSchema;
  const definition = { name, description, parameters, ...(strict !== undefined && { strict }) };
  return { type: 'function', function: definition, ...(deferLoading && { defer_loading: true }) };
}

/**
 * Messages as the provider reads them. Results of tools are texts in this protocol, so their media follow in a message of the user,
 * behind all results of the batch.
 */
export function toWireMessages(messages: readonly Message[]): Wire[] {
  const wire: Wire[] = [];
  let media: readonly ContentPart[] = [];
  for (const [at, message] of messages.entries()) {
    wire.push(toWireMessage(message));
    if (message.role !== 'tool') continue;
    media = [...media, ...mediaOfResult(message)];
    if (media.length === 0 || messages[at + 1]?.role === 'tool') continue;
    wire.push({ role: 'user', content: toWireContent(media) });
    media = [];
  }
  return wire;
}

/** A message as the provider reads it. */
function toWireMessage(message: Message): Wire {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user':
      return { role: 'user', content: toWireContent(message.content) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: toWireContent(textsOfResult(message.content)) };
    case 'assistant':
      return toWireAssistant(message);
  }
}

function toWireAssistant({ text, toolCalls, refusal, metadata }: AssistantMessage): Wire {
  return {
    role: 'assistant',
    content: text ?? (toolCalls.length > 0 || refusal !== undefined ? null : ''),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toWireCall) }),
    ...(refusal !== undefined && { refusal }),
    ...fromMetadata(metadata),
  };
}

function toWireCall({ id, name, arguments: text, metadata }: ToolCall): Wire {
  return { id, type: 'function', function: { name, arguments: text === '' ? '{}' : text }, ...fromMetadata(metadata) };
}

// ---- response

/** A complete answer from the body of a response. */
export function fromWireResponse(body: unknown, prompt: Prompt, rateLimit?: RateLimit): ChatResponse {
  const choices = isWire(body) && Array.isArray(body['choices']) ? body['choices'].filter(isWire) : [];
  if (!isWire(body) || choices.length === 0) {
    throw new ModelCallError(
      'The server answered, but not with a chat completion (no choices). Is the base URL that of an OpenAI-compatible API?',
    );
  }
  return new ChatResponse({
    generations: choices.map((choice) => fromWireChoice(choice, prompt)),
    usage: toUsage(body['usage']) ?? usageElsewhere(body, choices[0]),
    id: textOrNone(body['id']),
    model: textOrNone(body['model']),
    rateLimit,
    metadata: otherFields(body, BODY_FIELDS),
  });
}

/** Fields of a completion, and of a chunk of one, that have a place of their own. */
export const BODY_FIELDS: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);
/** Fields of a choice that have a place of their own. */
export const CHOICE_FIELDS: ReadonlySet<string> = new Set(['index', 'message', 'delta', 'finish_reason', 'logprobs']);
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'refusal', ...ECHOED]);

/** Fields that have no place of their own, as far as they say something. */
export function otherFields(wire: Wire, known: ReadonlySet<string>, others: Record<string, unknown> = {}): Record<string, unknown> {
  for (const name in wire) {
    const value = wire[name];
    if (!known.has(name) && value !== null && !(Array.isArray(value) && value.length === 0)) others[name] = value;
  }
  return others;
}

function fromWireChoice(choice: Wire, prompt: Prompt): Generation {
  const said = choice['message'] ?? choice['delta'];
  const message = isWire(said) ? said : {};
  const { content, tool_calls: calls, refusal } = message;
  const { text, reasoning, thinking } = readContent(content);
  const toolCalls = Array.isArray(calls) ? calls.filter(isFunctionCall).map(fromWireCall) : [];
  const echo = echoedFields(message);
  const assistant: AssistantMessage = {
    role: 'assistant',
    text: text === '' && (toolCalls.length > 0 || refusal) ? null : text,
    toolCalls,
    ...someText('reasoning', reasoningOf(message) || reasoning),
    ...someText('refusal', refusal),
    ...toMetadata(thinking ? { ...echo, content } : echo),
  };
  const metadata = otherFields(message, MESSAGE_FIELDS, otherFields(choice, CHOICE_FIELDS));
  return toGeneration(assistant, finishReasonOf(choice['finish_reason']), logprobsOf(choice['logprobs']), metadata, prompt);
}

/** A generation from its message and from what else its choice says. */
export function toGeneration(
  message: AssistantMessage,
  finishReason: string | undefined,
  logprobs: readonly unknown[],
  metadata: Record<string, unknown>,
  prompt: Prompt,
): Generation {
  if (logprobs.length > 0) metadata['logprobs'] = { content: logprobs };
  return { message: withUniqueCallIds(message, prompt.messages), ...someText('finishReason', finishReason), metadata };
}

/** The log probabilities of a choice or of a delta, token by token. */
export function logprobsOf(logprobs: unknown): readonly unknown[] {
  return isWire(logprobs) && Array.isArray(logprobs['content']) ? logprobs['content'] : [];
}

function someText<K extends string>(name: K, value: unknown): { readonly [name in K]?: string } {
  return (typeof value === 'string' && value !== '' ? { [name]: value } : {}) as { readonly [name in K]?: string };
}

/** Why the model stopped; servers that do not know yet say nothing, an empty text or the word null. */
export function finishReasonOf(value: unknown): string | undefined {
  return value === 'null' ? undefined : textOrNone(value);
}

/** Calls of tools that the provider runs itself, or of kinds unknown here, are not for us. */
export function isFunctionCall(call: unknown): call is Wire & { readonly function: Wire } {
  return isWire(call) && isWire(call['function']) && (!call['type'] || call['type'] === 'function');
}

function fromWireCall(call: Wire & { readonly function: Wire }): ToolCall {
  const { id, function: called } = call;
  return {
    id: textOrNone(id) ?? '',
    name: textOrNone(called['name']) ?? '',
    arguments: argumentsOf(called['arguments']),
    ...toMetadata(echoedFields(call)),
  };
}

/** Arguments as text; some servers send them as an object, or not at all. */
export function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** What a content says, which may be a list of parts with thinking among them. */
export interface Content {
  readonly text: string;
  readonly reasoning: string;
  /** The last part with thinking. */
  readonly thinking: Wire | undefined;
}

/** Reads a content of any form. */
export function readContent(content: unknown): Content {
  if (typeof content === 'string') return { text: content, reasoning: '', thinking: undefined };
  const parts = Array.isArray(content) ? content.filter(isWire) : [];
  const thoughts = parts.filter((part) => part['type'] === 'thinking');
  return {
    text: parts.map((part) => (part['type'] === 'thinking' ? '' : (textOrNone(part['text']) ?? ''))).join(''),
    reasoning: thoughts.map(({ thinking }) => (typeof thinking === 'string' ? thinking : readContent(thinking).text)).join(''),
    thinking: thoughts.at(-1),
  };
}

/** What the model thought, as far as the provider shows it. */
export function reasoningOf(fields: Wire): string {
  const { reasoning_content: content, reasoning, reasoning_details: details } = fields;
  if (typeof content === 'string' && content !== '') return content;
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  if (!Array.isArray(details)) return '';
  return details.filter(isWire).reduce((text, detail) => text + (textOrNone(detail['text']) ?? textOrNone(detail['summary']) ?? ''), '');
}
