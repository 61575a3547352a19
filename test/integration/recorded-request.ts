import type { AssistantMessage, ChatOptions, ContentPart, Message, OfferedTool, ToolCall } from '../../src/index.js';
import { isJson, jsonList, stringOf, type Json } from './cassettes.js';
import { textOf } from './recorded-answer.js';

/** A recorded request as an application would make it: messages and options. */
export interface RecordedTask {
  readonly messages: readonly Message[];
  readonly options: ChatOptions;
}

/** Fields that a provider wants back in the next request. */
export const ECHOED = ['reasoning_content', 'reasoning', 'reasoning_details', 'thought_signature', 'extra_content'] as const;

const NOTHING: RecordedTask = { messages: [{ role: 'user', content: 'hi' }], options: { model: 'recorded' } };

export function taskOf(body: Json | null): RecordedTask {
  if (!body) return NOTHING;
  return { messages: jsonList(body['messages']).map(toMessage), options: toOptions(body) };
}

export function toMessage(message: Json): Message {
  const { role, content } = message;
  if (role === 'system' || role === 'developer') return { role: 'system', text: textOf(content) };
  if (role === 'tool') return { role: 'tool', toolCallId: String(message['tool_call_id']), toolName: '', content: textOf(content) };
  if (role === 'user') return { role: 'user', content: Array.isArray(content) ? content.map(toPart) : stringOf(content) };
  return toAssistant(message);
}

function toPart(part: unknown): ContentPart {
  if (!isJson(part) || Object.keys(part).length !== 2) return { type: 'raw', value: part };
  const { type, text, image_url: image } = part;
  if (type === 'text') return { type, text: String(text) };
  return isJson(image) && Object.keys(image).join() === 'url' ? { type: 'image', url: String(image['url']) } : { type: 'raw', value: part };
}

function toAssistant(message: Json): AssistantMessage {
  const echo = ECHOED.filter((name) => message[name] !== undefined && message[name] !== null);
  const own = Object.fromEntries(echo.map((name) => [name, message[name]]));
  return {
    role: 'assistant',
    text: message['content'] === null || message['content'] === undefined ? null : textOf(message['content']),
    toolCalls: jsonList(message['tool_calls']).map(toCall),
    ...(echo.length > 0 && { metadata: { openai: own } }),
  };
}

function toCall({ id, function: called }: Json): ToolCall {
  const { name, arguments: text } = isJson(called) ? called : {};
  return { id: stringOf(id), name: stringOf(name), arguments: typeof text === 'string' ? text : '' };
}

const NUMBERS = {
  temperature: 'temperature',
  top_p: 'topP',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  max_tokens: 'maxTokens',
  max_completion_tokens: 'maxCompletionTokens',
  seed: 'seed',
  top_logprobs: 'topLogprobs',
} as const;
const OTHERS = {
  model: 'model',
  reasoning_effort: 'reasoningEffort',
  user: 'user',
  logprobs: 'logprobs',
  parallel_tool_calls: 'parallelToolCalls',
} as const;

/** Options where there is one for the field; what has none goes into `extraBody`. */
function toOptions(body: Json): ChatOptions {
  const options: Record<string, unknown> = {};
  const extraBody: Record<string, unknown> = {};
  const tools = toTools(body['tools']);
  for (const [name, value] of Object.entries(body)) {
    if (['messages', 'stream', 'stream_options'].includes(name)) continue;
    const [option, mapped] = toOption(name, value, tools !== undefined);
    if (option === undefined) extraBody[name] = value;
    else options[option] = mapped;
  }
  return { ...options, ...(tools && { tools }), extraBody };
}

function toOption(name: string, value: unknown, hasTools: boolean): readonly [option?: string, value?: unknown] {
  if (name in NUMBERS && typeof value === 'number' && isAllowed(name, value)) return [NUMBERS[name as keyof typeof NUMBERS], value];
  if (name === 'parallel_tool_calls' && !hasTools) return [];
  if (name in OTHERS && value !== null) return [OTHERS[name as keyof typeof OTHERS], value];
  if (name === 'tools' && hasTools) return ['tools'];
  if (name === 'tool_choice' && hasTools) return toToolChoice(value);
  if (name === 'stop' && Array.isArray(value)) return ['stopSequences', value];
  return name === 'response_format' ? toFormat(value) : [];
}

/** Our options are checked; what providers refuse too goes into `extraBody`. */
function isAllowed(name: string, value: number): boolean {
  return name.endsWith('penalty') || value > 0 || (value === 0 && !name.startsWith('max'));
}

function toToolChoice(choice: unknown): readonly [option?: string, value?: unknown] {
  if (typeof choice === 'string') return ['auto', 'none', 'required'].includes(choice) ? ['toolChoice', choice] : [];
  const called = isJson(choice) ? choice['function'] : undefined;
  return isJson(called) && isJson(choice) && choice['type'] === 'function' ? ['toolChoice', { tool: called['name'] }] : [];
}

function toFormat(format: unknown): readonly [option?: string, value?: unknown] {
  if (!isJson(format)) return [];
  if (format['type'] === 'json_object') return ['responseFormat', 'json'];
  if (format['type'] === 'text') return ['responseFormat', 'text'];
  const { name, schema, strict, ...more } = isJson(format['json_schema']) ? format['json_schema'] : {};
  return strict === undefined || Object.keys(more).length > 0 ? [] : ['responseFormat', { name, schema, strict }];
}

/** Function tools with all fields that ours have; anything else is not for the option. */
function toTools(tools: unknown): readonly OfferedTool[] | undefined {
  const offered = jsonList(tools).map((tool) => tool['function']);
  if (offered.length === 0 || !offered.every(isOrdinary) || jsonList(tools).some((tool) => Object.keys(tool).length !== 2))
    return undefined;
  return offered.map((called) => ({
    definition: {
      name: String(called['name']),
      description: String(called['description']),
      inputSchema: called['parameters'] as Json,
      ...(typeof called['strict'] === 'boolean' && { strict: called['strict'] }),
    },
  }));
}

function isOrdinary(called: unknown): called is Json {
  if (!isJson(called) || Object.keys(called).some((name) => !['name', 'description', 'parameters', 'strict'].includes(name))) return false;
  const { description, parameters, strict } = called;
  return typeof description === 'string' && isJson(parameters) && (!strict || isClosed(parameters));
}

/** What counts in a message of a request: clients spell the rest differently. */
export function essenceOf(message: Json): Json {
  const { role, content, tool_calls: calls, tool_call_id: answered } = message;
  const spoken = role === 'user' && Array.isArray(content) ? content : textOf(content);
  return {
    role: role === 'developer' ? 'system' : role,
    content: spoken,
    calls: jsonList(calls)
      .map(toCall)
      .map((call) => ({ ...call, arguments: argumentsOf(call.arguments) })),
    answered,
    echo: ECHOED.map((name) => message[name] ?? null),
  };
}

/** Arguments as a value, since clients write the JSON anew. */
export function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text.trim() || '{}');
  } catch {
    return text;
  }
}

/** Whether a schema is as strict mode wants it; some compatible servers accept others, which we do not send. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isJson(schema)) return true;
  return (!isJson(schema['properties']) || schema['additionalProperties'] === false) && Object.values(schema).every(isClosed);
}
