import type { ChatOptions, ResponseFormat } from '../../core/chat/chat-options.js';
import {
  callsOf,
  type ContentPart,
  type Message,
  textOf,
  type ToolCall,
} from '../../core/chat/message.js';
import type { Prompt } from '../../core/chat/prompt.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/internal/options.js';
import { toFunctionTool } from '../http/chat-completions.js';
import { argumentsObject, definedFields, withExtra } from '../http/fields.js';
import { base64Of } from '../../core/chat/media-content.js';

/** Fields of a request that only this API has. */
export interface OllamaFields {
  readonly think?: boolean | 'low' | 'medium' | 'high' | undefined;
  readonly numCtx?: number | undefined;
  readonly keepAlive?: string | number | undefined;
}

/**
 * The body of a request: https://docs.ollama.com/api/chat. Fields of `extraBody` win; its `options`
 * are merged.
 * @throws {@link InvalidArgumentError} if a message has media other than images by content
 */
export function toRequestBody(
  { messages }: Prompt,
  options: ChatOptions,
  { think, numCtx, keepAlive }: OllamaFields,
  isStream: boolean,
): JsonObject {
  const { responseFormat, reasoningEffort } = options;
  const fields = {
    model: options.model,
    messages: messages.map(toOllamaMessage),
    ...toolFields(options),
    format: responseFormat && toFormat(responseFormat),
    think: think ?? (reasoningEffort && toThink(reasoningEffort)),
    keep_alive: keepAlive,
    logprobs: options.logprobs,
    top_logprobs: options.topLogprobs,
    options: definedFields(toModelOptions(options, numCtx)),
  };
  return { ...withExtra(fields, options.extraBody, ['options']), stream: isStream };
}

/** The values that the API takes; it refuses others. */
function toThink(effort: string): OllamaFields['think'] {
  if (effort === 'none') return false;
  if (effort === 'minimal' || effort === 'low') return 'low';
  return effort === 'medium' ? 'medium' : 'high';
}

function toModelOptions(options: ChatOptions, numCtx: number | undefined): JsonObject {
  return {
    num_ctx: numCtx,
    num_predict: options.maxCompletionTokens ?? options.maxTokens,
    temperature: options.temperature,
    top_p: options.topP,
    top_k: options.topK,
    seed: options.seed,
    stop: options.stopSequences,
    presence_penalty: options.presencePenalty,
    frequency_penalty: options.frequencyPenalty,
  };
}

/** The API has no tool choice: `none` offers no tool, and a named tool is the only one. */
function toolFields({ tools = [], providerTools = [], toolChoice }: ChatOptions): JsonObject {
  if (toolChoice === 'none') return {};
  const offered =
    typeof toolChoice === 'object'
      ? tools.filter(({ definition }) => definition.name === toolChoice.tool)
      : tools;
  const all = [...offered.map(({ definition }) => toFunctionTool(definition)), ...providerTools];
  return all.length > 0 ? { tools: all } : {};
}

function toFormat(format: ResponseFormat): unknown {
  if (typeof format === 'object') return format.schema;
  return format === 'json' ? 'json' : undefined;
}

function toOllamaMessage(message: Message): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', ...toContent(message.content) };
    case 'tool':
      return { role: 'tool', tool_name: message.toolName, ...toContent(message.content) };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content ?? message.refusal ?? '',
        thinking: message.reasoning,
        ...(callsOf(message).length > 0 && { tool_calls: callsOf(message).map(toOllamaCall) }),
      };
  }
}

function toOllamaCall({ name, arguments: text }: ToolCall): JsonObject {
  return { function: { name, arguments: argumentsObject(text) } };
}

/** A text, and images beside it. */
function toContent(content: string | readonly ContentPart[]): JsonObject {
  const parts = typeof content === 'string' ? [] : content.filter(({ type }) => type !== 'text');
  return {
    content: textOf(content),
    ...(parts.length > 0 && { images: parts.map(toImage) }),
  };
}

function toImage(part: ContentPart): string {
  if (part.type === 'image') return base64Of(part, 'OllamaChatModel');
  throw new InvalidArgumentError(
    `OllamaChatModel: messages have text and images only; a part of the type ${part.type} cannot be sent`,
  );
}
