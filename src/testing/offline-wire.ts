import type { ChatEvent } from '../chat/chat-event.js';
import type { ChatOptions, ResponseFormat, ToolChoice } from '../chat/chat-options.js';
import type { ChatResponse } from '../chat/chat-response.js';
import type { ContentPart, Message, ToolCall } from '../chat/message.js';
import { Prompt } from '../chat/prompt.js';
import type { JsonSchema, OfferedTool } from '../chat/tool-definition.js';
import type { Usage } from '../chat/usage.js';
import { InvalidArgumentError } from '../errors.js';

/** A JSON object of the wire, of which nothing is certain. */
export type Wire = Readonly<Record<string, unknown>>;

/** An answer on its way to the wire. */
export interface WireAnswer {
  readonly id: string;
  readonly model: string;
}

/**
 * The prompt of a request to `/chat/completions`.
 * @throws {@link InvalidArgumentError} if the body is not such a request
 */
export function promptOf(body: unknown): Prompt {
  if (!isWire(body)) throw new InvalidArgumentError('the body must be a JSON object');
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0) throw new InvalidArgumentError('messages is required: a non-empty array');
  const wires = messages.map(objectOf);
  return new Prompt(
    wires.map((wire) => toMessage(wire, wires)),
    optionsOf(body),
  );
}

function optionsOf({ model, tools, tool_choice: choice, parallel_tool_calls: parallel, response_format: format }: Wire): ChatOptions {
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
    ...(isWire(format) && { responseFormat: toResponseFormat(format) }),
  };
}

function toMessage(wire: Wire, all: readonly Wire[]): Message {
  const { role, content } = wire;
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', text: textIn(content) };
    case 'assistant':
      return { role, text: content === null || content === undefined ? null : textIn(content), toolCalls: callsOf(wire) };
    case 'tool': {
      const id = String(wire['tool_call_id']);
      const call = all.flatMap(callsOf).find((one) => one.id === id);
      return { role, toolCallId: id, toolName: call?.name ?? '', content: textIn(content) };
    }
    default:
      // an unknown role is refused, and named, by the prompt
      return { role: role as 'user', content: Array.isArray(content) ? content.map(toPart) : (content as string) };
  }
}

function callsOf({ tool_calls: calls }: Wire): readonly ToolCall[] {
  return (Array.isArray(calls) ? calls : []).map((call) => {
    const { id, function: called } = objectOf(call);
    const { name, arguments: args } = objectOf(called);
    return { id: String(id), name: name as string, arguments: args as string };
  });
}

function toPart(part: unknown): ContentPart {
  const { type, text } = objectOf(part);
  return type === 'text' && typeof text === 'string' ? { type, text } : { type: 'raw', value: part };
}

function textIn(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content
    .map((part) => objectOf(part)['text'])
    .filter((text) => typeof text === 'string')
    .join('');
}

/** Tools of other types are those that a provider runs itself; there are none of those here. */
function isFunction({ type = 'function' }: Wire): boolean {
  return type === 'function';
}

function toTool({ name, description, parameters }: Wire): OfferedTool {
  if (typeof name !== 'string' || name === '') throw new InvalidArgumentError('tools: each needs function.name, a non-empty string');
  const inputSchema: JsonSchema = isWire(parameters) ? parameters : { type: 'object', properties: {} };
  return { definition: { name, description: typeof description === 'string' ? description : '', inputSchema } };
}

function toToolChoice(choice: unknown): ToolChoice {
  return typeof choice === 'string' ? (choice as ToolChoice) : { tool: String(objectOf(objectOf(choice)['function'])['name']) };
}

function toResponseFormat({ type, json_schema: format }: Wire): ResponseFormat {
  const { schema } = objectOf(format);
  if (type === 'json_schema' && isWire(schema)) return { schema };
  return type === 'json_object' ? 'json' : 'text';
}

/** The body of a whole answer. */
export function toCompletion(response: ChatResponse, { id, model }: WireAnswer): Wire {
  const { text, toolCalls } = response.message;
  const calls = toolCalls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }));
  const message = { role: 'assistant', content: text, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: response.finishReason }];
  return { id, object: 'chat.completion', created: CREATED, model, choices, usage: toUsage(response.usage) };
}

/** The bodies of the chunks that an event of a streamed answer is sent as. */
export function toChunks(event: ChatEvent, answer: WireAnswer, withUsage: boolean): readonly Wire[] {
  switch (event.type) {
    case 'text-delta':
      return [chunk(answer, { content: event.text })];
    case 'tool-call-delta': {
      const { index, id, name, arguments: args } = event;
      const first = id === undefined ? {} : { id, type: 'function' };
      return [chunk(answer, { tool_calls: [{ index, ...first, function: { ...(name !== undefined && { name }), arguments: args } }] })];
    }
    case 'response': {
      const end = chunk(answer, {}, event.response.finishReason);
      return withUsage ? [end, { ...end, choices: [], usage: toUsage(event.response.usage) }] : [end];
    }
    default:
      return [];
  }
}

/** A chunk with a delta. */
export function chunk({ id, model }: WireAnswer, delta: Wire, finishReason: string | null = null): Wire {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  return { id, object: 'chat.completion.chunk', created: CREATED, model, choices };
}

/** The same request gives the same bytes, so the clock is not read. */
const CREATED = 0;

function toUsage(usage: Usage | undefined): Wire {
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = usage ?? {};
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens };
}

/** An error as the API reports it. */
export function toError(message: string, code: string | null): Wire {
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}

function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object, empty where there is none. */
export function objectOf(value: unknown): Wire {
  return isWire(value) ? value : {};
}
