import type { ChatEvent } from '../../chat/chat-event.js';
import type { ChatOptions, ResponseFormat, ToolChoice } from '../../chat/chat-options.js';
import type { ChatResponse, Usage } from '../../chat/chat-response.js';
import type { Message, ToolCall } from '../../chat/message.js';
import { Prompt } from '../../chat/prompt.js';
import type { OfferedTool } from '../../chat/tool-definition.js';
import { InvalidArgumentError } from '../../errors.js';
import { isPlainObject } from '../../internal/options.js';

/** A JSON object of a request or a response body. */
export type Wire = Readonly<Record<string, unknown>>;

/** The fields that all bodies of one response share. */
export interface WireAnswer {
  readonly id: string;
  readonly model: string;
}

/**
 * The prompt of a request to `/chat/completions`.
 * @throws {@link InvalidArgumentError} if the body is not such a request
 */
export function promptOf(body: unknown): Prompt {
  if (!isPlainObject(body)) throw new InvalidArgumentError('the body must be a JSON object');
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0)
    throw new InvalidArgumentError('messages is required: a non-empty array');
  const wires = messages.map(objectOf);
  return new Prompt(
    wires.map((wire) => toMessage(wire, wires)),
    optionsOf(body),
  );
}

function optionsOf({
  model,
  tools,
  tool_choice: choice,
  parallel_tool_calls: parallel,
  response_format: format,
}: Wire): ChatOptions {
  return {
    ...(typeof model === 'string' && model.trim() !== '' && { model }),
    ...(Array.isArray(tools) && {
      tools: tools
        .map(objectOf)
        .filter(isFunction)
        .map((tool) => toTool(objectOf(tool['function']))),
    }),
    ...(choice !== undefined && choice !== null && { toolChoice: toToolChoice(choice) }),
    ...(typeof parallel === 'boolean' && { parallelToolCalls: parallel }),
    ...(isPlainObject(format) && { responseFormat: toResponseFormat(format) }),
  };
}

function toMessage(wire: Wire, all: readonly Wire[]): Message {
  const { role, content } = wire;
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', text: textIn(content) };
    case 'assistant':
      return { role, text: content ? textIn(content) : null, toolCalls: callsOf(wire) };
    case 'tool': {
      const id = String(wire['tool_call_id']);
      const call = all.flatMap(callsOf).find((one) => one.id === id);
      return { role, toolCallId: id, toolName: call?.name ?? '', content: textIn(content) };
    }
    default:
      // the prompt rejects an unknown role by name
      return { role: role as 'user', content: textIn(content) };
  }
}

function callsOf({ tool_calls: calls }: Wire): readonly ToolCall[] {
  return (Array.isArray(calls) ? calls : []).map((call) => {
    const { id, function: called } = objectOf(call);
    const { name, arguments: args } = objectOf(called);
    return { id: String(id), name: name as string, arguments: args as string };
  });
}

function textIn(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  const texts = content.map((part) => objectOf(part)['text']);
  return texts.filter((text) => typeof text === 'string').join('');
}

/** Tools of other types run at a provider. */
function isFunction({ type = 'function' }: Wire): boolean {
  return type === 'function';
}

function toTool({ name, description, parameters }: Wire): OfferedTool {
  if (typeof name !== 'string' || name === '')
    throw new InvalidArgumentError('tools: each needs function.name, a non-empty string');
  const text = typeof description === 'string' ? description : '';
  const inputSchema = isPlainObject(parameters) ? parameters : { type: 'object', properties: {} };
  return { definition: { name, description: text, inputSchema } };
}

function toToolChoice(choice: unknown): ToolChoice {
  return typeof choice === 'string'
    ? (choice as ToolChoice)
    : { tool: String(objectOf(objectOf(choice)['function'])['name']) };
}

function toResponseFormat({ type, json_schema: format }: Wire): ResponseFormat {
  const { schema } = objectOf(format);
  if (type === 'json_schema' && isPlainObject(schema)) return { schema };
  return type === 'json_object' ? 'json' : 'text';
}

/** The body of a response. */
export function toCompletion(response: ChatResponse, { id, model }: WireAnswer): Wire {
  const { text, toolCalls } = response.message;
  const calls = toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  const message = {
    role: 'assistant',
    content: text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: response.finishReason }];
  const usage = toUsage(response.usage);
  return { id, object: 'chat.completion', created: CREATED, model, choices, usage };
}

/** The chunks of an event of a stream. */
export function toChunks(
  event: ChatEvent,
  answer: WireAnswer,
  withUsage: boolean,
): readonly Wire[] {
  switch (event.type) {
    case 'text-delta':
      return [chunk(answer, { content: event.text })];
    case 'tool-call-delta': {
      const { index, id, name, arguments: args } = event;
      const first = id === undefined ? {} : { id, type: 'function' };
      const called = { ...(name !== undefined && { name }), arguments: args };
      return [chunk(answer, { tool_calls: [{ index, ...first, function: called }] })];
    }
    case 'response': {
      const end = chunk(answer, {}, event.response.finishReason);
      return withUsage
        ? [end, { ...end, choices: [], usage: toUsage(event.response.usage) }]
        : [end];
    }
    default:
      return [];
  }
}

/** A chunk with a delta. */
export function chunk(
  { id, model }: WireAnswer,
  delta: Wire,
  finishReason: string | null = null,
): Wire {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  return { id, object: 'chat.completion.chunk', created: CREATED, model, choices };
}

/** A constant in place of the clock, since the same request gets the same bytes. */
const CREATED = 0;

function toUsage(usage: Usage | undefined): Wire {
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = usage ?? {};
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens };
}

/** The body of an error. */
export function toError(message: string, code: string | null): Wire {
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}

/** The value itself if it is an object, else an empty one. */
export function objectOf(value: unknown): Wire {
  return isPlainObject(value) ? value : {};
}
