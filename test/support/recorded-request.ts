import type {
  AssistantMessage,
  ChatOptions,
  ContentPart,
  Message,
  ToolCall,
} from '../../src/index.js';
import type { OfferedTool } from '../../src/core/chat/index.js';
import { checkChatOptions } from '../../src/core/chat/chat-options.js';
import { isJson, jsonList, stringOf, type Json } from './cassettes.js';
import { textOf } from './recorded-answer.js';

/** A recorded request as an application would make it: messages and options. */
export interface RecordedTask {
  readonly messages: readonly Message[];
  readonly options: ChatOptions;
}

/** Fields that a provider wants back in the next request. */
export const ECHOED = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thought_signature',
  'extra_content',
] as const;

const NOTHING: RecordedTask = {
  messages: [{ role: 'user', content: 'hi' }],
  options: { model: 'recorded' },
};

const ROLES: readonly unknown[] = ['system', 'developer', 'user', 'assistant', 'tool'];

/**
 * The task of a request body; messages of roles that are ours no more (`function`) go past the
 * prompt.
 */
export function taskOf(body: Json | null): RecordedTask {
  if (!body) return NOTHING;
  const messages = jsonList(body['messages']);
  const options = toOptions(body);
  if (messages.every(({ role }) => ROLES.includes(role)))
    return { messages: messages.map(toMessage), options };
  return {
    messages: NOTHING.messages,
    options: { ...options, extraBody: { ...options.extraBody, messages } },
  };
}

export function toMessage(message: Json): Message {
  const { role, content } = message;
  if (role === 'system' || role === 'developer')
    return { role: 'system', content: textOf(content) };
  if (role === 'tool')
    return {
      role: 'tool',
      toolCallId: stringOf(message['tool_call_id']),
      toolName: '',
      content: textOf(content),
    };
  if (role === 'user')
    return {
      role: 'user',
      content: Array.isArray(content) ? content.map(toPart) : stringOf(content),
    };
  return toAssistant(message);
}

function toPart(part: unknown): ContentPart {
  if (!isJson(part) || Object.keys(part).length !== 2) return { type: 'raw', value: part };
  const { type, text, image_url: image } = part;
  if (type === 'text') return { type, text: String(text) };
  return isJson(image) && Object.keys(image).join() === 'url'
    ? { type: 'image', url: String(image['url']) }
    : { type: 'raw', value: part };
}

function toAssistant(message: Json): AssistantMessage {
  const echo = ECHOED.filter((name) => message[name] !== undefined && message[name] !== null);
  const own = Object.fromEntries(echo.map((name) => [name, message[name]]));
  return {
    role: 'assistant',
    content:
      message['content'] === null || message['content'] === undefined
        ? null
        : textOf(message['content']),
    toolCalls: jsonList(message['tool_calls']).map(toCall),
    ...(echo.length > 0 && { metadata: { openai: own } }),
  };
}

function toCall({ id, function: called }: Json): ToolCall {
  const { name, arguments: text } = isJson(called) ? called : {};
  return {
    id: stringOf(id),
    name: stringOf(name),
    arguments: typeof text === 'string' ? text : '',
  };
}

const NAMES = {
  model: 'model',
  temperature: 'temperature',
  top_p: 'topP',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  max_tokens: 'maxTokens',
  max_completion_tokens: 'maxCompletionTokens',
  stop: 'stopSequences',
  seed: 'seed',
  logprobs: 'logprobs',
  top_logprobs: 'topLogprobs',
  reasoning_effort: 'reasoningEffort',
  user: 'user',
  metadata: 'metadata',
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
    if (option === undefined || !isAccepted({ [option]: mapped })) extraBody[name] = value;
    else options[option] = mapped;
  }
  return { ...options, ...(tools && { tools }), extraBody };
}

/** Our options are checked before they are sent; what they refuse goes past them. */
function isAccepted(options: ChatOptions): boolean {
  try {
    checkChatOptions(options, 'recording');
    return true;
  } catch {
    return false;
  }
}

function toOption(
  name: string,
  value: unknown,
  hasTools: boolean,
): readonly [option?: string, value?: unknown] {
  if (value === null) return [];
  if (name === 'response_format') return toFormat(value);
  if (!hasTools)
    return name in NAMES && name !== 'parallel_tool_calls'
      ? [NAMES[name as keyof typeof NAMES], value]
      : [];
  if (name === 'tools') return ['tools'];
  return name === 'tool_choice'
    ? toToolChoice(value)
    : name in NAMES
      ? [NAMES[name as keyof typeof NAMES], value]
      : [];
}

function toToolChoice(choice: unknown): readonly [option?: string, value?: unknown] {
  if (typeof choice === 'string') return ['toolChoice', choice];
  const called = isJson(choice) ? choice['function'] : undefined;
  return isJson(called) && isJson(choice) && choice['type'] === 'function'
    ? ['toolChoice', { tool: called['name'] }]
    : [];
}

function toFormat(format: unknown): readonly [option?: string, value?: unknown] {
  if (!isJson(format)) return [];
  if (format['type'] === 'json_object') return ['responseFormat', 'json'];
  if (format['type'] === 'text') return ['responseFormat', 'text'];
  const { name, schema, strict, ...more } = isJson(format['json_schema'])
    ? format['json_schema']
    : {};
  return strict === undefined || Object.keys(more).length > 0
    ? []
    : ['responseFormat', { name, schema, strict }];
}

/** Function tools with all fields that ours have; anything else is not for the option. */
function toTools(tools: unknown): readonly OfferedTool[] | undefined {
  const offered = jsonList(tools).map((tool) => tool['function']);
  if (
    offered.length === 0 ||
    !offered.every(isOrdinary) ||
    jsonList(tools).some((tool) => Object.keys(tool).length !== 2)
  )
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
  if (
    !isJson(called) ||
    Object.keys(called).some(
      (name) => !['name', 'description', 'parameters', 'strict'].includes(name),
    )
  )
    return false;
  const { description, parameters, strict } = called;
  return typeof description === 'string' && isJson(parameters) && (!strict || isClosed(parameters));
}

/** The significant fields of a message of a request; clients format the rest differently. */
export function essenceOf(message: Json): Json {
  const { role, content, tool_calls: calls, tool_call_id: answered } = message;
  const spoken = role === 'user' && Array.isArray(content) ? content : textOf(content);
  return {
    role: role === 'developer' ? 'system' : role,
    content: spoken,
    calls: jsonList(calls)
      .map(toCall)
      .map((call) => ({ ...call, arguments: argumentsOf(call.arguments) })),
    answered: stringOf(answered),
    echo: ECHOED.map((name) => message[name] ?? null),
  };
}

/** Arguments as a value, since clients format the JSON differently. */
export function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text.trim() || '{}');
  } catch {
    return text;
  }
}

/**
 * A schema in the form of strict mode; some compatible servers accept other forms, which this
 * library does not send.
 */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isJson(schema)) return true;
  return (
    (!isJson(schema['properties']) || schema['additionalProperties'] === false) &&
    Object.values(schema).every(isClosed)
  );
}
