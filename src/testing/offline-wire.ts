import type { ChatEvent } from '../core/chat/chat-event.js';
import type { ChatOptions, ToolChoice } from '../core/chat/chat-options.js';
import type { ChatResponse, Usage } from '../core/chat/chat-response.js';
import { callsOf, type Message, type ToolCall } from '../core/chat/message.js';
import { Prompt } from '../core/chat/prompt.js';
import type { OfferedTool } from '../core/chat/tool-definition.js';
import { InvalidArgumentError } from '../core/errors/errors.js';
import { isPlainObject } from '../core/internal/options.js';
import { listOf } from '../core/json-schema/json-pointer.js';

/** A JSON object of a request or a response body. */
export type Wire = Readonly<Record<string, unknown>>;

/**
 * The prompt of a request to `/chat/completions`.
 * @throws {@link InvalidArgumentError} if the body is not such a request
 */
export function promptOf(body: unknown): Prompt {
  if (!isPlainObject(body)) throw new InvalidArgumentError('the body must be a JSON object');
  const messages = listOf(body['messages']).map(objectOf);
  if (messages.length === 0)
    throw new InvalidArgumentError('messages is required: a non-empty array');
  const calls = messages.flatMap(wireCallsOf);
  return new Prompt(
    messages.map((message) => toMessage(message, calls)),
    optionsOf(body),
  );
}

function optionsOf(body: Wire): ChatOptions {
  const { model, tools, tool_choice: choice, response_format: format } = body;
  const { schema } = objectOf(objectOf(format)['json_schema']);
  // tools of other types run at a provider
  const functions = listOf(tools).map(objectOf).filter(isFunction);
  return {
    model: (model ?? undefined) as string | undefined,
    tools: functions.map((tool) => toTool(objectOf(tool['function']))),
    toolChoice: isPlainObject(choice)
      ? { tool: String(objectOf(choice['function'])['name']) }
      : ((choice ?? 'auto') as ToolChoice),
    parallelToolCalls: body['parallel_tool_calls'] !== false,
    responseFormat: isPlainObject(schema) ? { schema } : 'text',
  };
}

function toMessage(wire: Wire, calls: readonly ToolCall[]): Message {
  const { role, content, tool_call_id: toolCallId } = wire;
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: textIn(content) };
    case 'assistant':
      return { role, content: content ? textIn(content) : null, toolCalls: wireCallsOf(wire) };
    case 'tool': {
      const call = calls.find(({ id }) => id === toolCallId);
      const toolName = call?.name ?? '';
      return { role, toolCallId: String(toolCallId), toolName, content: textIn(content) };
    }
    default:
      // the prompt rejects an unknown role by name
      return { role: role as 'user', content: textIn(content) };
  }
}

function wireCallsOf({ tool_calls: calls }: Wire): readonly ToolCall[] {
  return listOf(calls).map((call) => {
    const { id, function: called } = objectOf(call);
    const { name, arguments: args } = objectOf(called);
    return { id: String(id), name: name as string, arguments: args as string };
  });
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  const texts = listOf(content).map((part) => objectOf(part)['text']);
  return texts.filter((text) => typeof text === 'string').join('');
}

function isFunction({ type = 'function' }: Wire): boolean {
  return type === 'function';
}

function toTool({ name, description = '', parameters }: Wire): OfferedTool {
  if (typeof name !== 'string' || name === '')
    throw new InvalidArgumentError('tools: each needs function.name, a non-empty string');
  const inputSchema = { type: 'object', properties: {}, ...objectOf(parameters) };
  return { definition: { name, description: String(description), inputSchema } };
}

/** The body of a response, without its id and model. */
export function toCompletion({ message, finishReason, usage }: ChatResponse): Wire {
  const calls = callsOf(message).map(({ id, name, arguments: args }) => {
    return { id, type: 'function', function: { name, arguments: args } };
  });
  const wire = {
    role: 'assistant',
    content: message.content,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choices = [{ index: 0, message: wire, logprobs: null, finish_reason: finishReason }];
  return { object: 'chat.completion', choices, usage: toUsage(usage) };
}

/** The chunks of an event of a stream, without their id and model. */
export function toChunks(event: ChatEvent, withUsage: boolean): readonly Wire[] {
  switch (event.type) {
    case 'text-delta':
      return [toChunk({ content: event.text })];
    case 'tool-call-delta': {
      const { index, id, name, arguments: args } = event;
      // real servers split arguments anywhere
      const pieces = args.match(/[^]{1,12}/g) ?? [];
      return (id === undefined ? pieces : ['', ...pieces]).map((piece, at) => {
        const first = at === 0 && id !== undefined && { id, type: 'function' };
        const called = { name: at === 0 ? name : undefined, arguments: piece };
        return toChunk({ tool_calls: [{ index, ...first, function: called }] });
      });
    }
    case 'response': {
      const end = toChunk({}, event.response.finishReason);
      const usage = toUsage(event.response.usage);
      return withUsage ? [end, { ...end, choices: [], usage }] : [end];
    }
    default:
      return [];
  }
}

/** A chunk with a delta, without its id and model. */
export function toChunk(delta: Wire, finishReason: string | null = null): Wire {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
  return { object: 'chat.completion.chunk', choices };
}

function toUsage(usage: Usage | undefined): Wire {
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0 } = usage ?? {};
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens };
}

/** The value itself if it is an object, else an empty one. */
export function objectOf(value: unknown): Wire {
  return isPlainObject(value) ? value : {};
}
