import type { ChatOptions, ResponseFormat } from '../../core/chat/chat-options.js';
import type { AssistantMessage, ContentPart, Message } from '../../core/chat/message.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/internal/options.js';
import { toChatMessages, toFunctionCall, toFunctionTool } from '../http/chat-completions.js';
import { keptFields, withExtra } from '../http/fields.js';
import { addressOf } from '../http/media.js';
import { KEY } from './fold.js';

/**
 * The fields of a request that options make: https://docs.cohere.com/reference/chat. `extraBody`
 * wins. JSON omits undefined ones.
 */
export function toOptionFields(options: ChatOptions): JsonObject {
  const { responseFormat, reasoningEffort } = options;
  const fields = {
    model: options.model,
    ...toolFields(options),
    max_tokens: options.maxCompletionTokens ?? options.maxTokens,
    temperature: options.temperature,
    p: options.topP,
    k: options.topK,
    stop_sequences: options.stopSequences,
    seed: options.seed,
    presence_penalty: options.presencePenalty,
    frequency_penalty: options.frequencyPenalty,
    logprobs: options.logprobs,
    response_format: responseFormat && toFormat(responseFormat),
    thinking: reasoningEffort === undefined ? undefined : toThinking(reasoningEffort),
  };
  return withExtra(fields, options.extraBody, ['thinking']);
}

/** The API knows no levels of effort, only whether the model thinks. */
function toThinking(effort: string): JsonObject {
  return { type: effort === 'none' ? 'disabled' : 'enabled' };
}

/** A named tool is the only one offered, and one must be called. */
function toolFields(options: ChatOptions): JsonObject {
  const { tools = [], providerTools = [], toolChoice, strictTools } = options;
  const named = typeof toolChoice === 'object' ? toolChoice.tool : undefined;
  const offered = tools.filter(({ definition }) => !named || definition.name === named);
  const all = [...offered.map(({ definition }) => toFunctionTool(definition)), ...providerTools];
  if (all.length === 0) return {};
  const isStrict =
    strictTools === true || offered.some(({ definition }) => definition.strict === true);
  const choice = named ? 'required' : toolChoice;
  return {
    tools: all,
    ...((choice === 'required' || choice === 'none') && { tool_choice: choice.toUpperCase() }),
    ...(isStrict && { strict_tools: true }),
  };
}

function toFormat(format: ResponseFormat): JsonObject {
  if (typeof format === 'object') return { type: 'json_object', json_schema: format.schema };
  return { type: format === 'json' ? 'json_object' : 'text' };
}

/** @throws {@link InvalidArgumentError} if a message has media other than images */
export function toMessages(messages: readonly Message[]): readonly JsonObject[] {
  return toChatMessages(messages, { toContent, toAssistantMessage });
}

/** Plan and citations of the model go back with the reasoning and the text that they are of. */
function toAssistantMessage(message: AssistantMessage): JsonObject {
  const { content: text, refusal, reasoning, toolCalls = [] } = message;
  const { tool_plan, thinking = '', citations, text: cited } = keptFields(message, KEY);
  const plan = isReasoning(reasoning, tool_plan, thinking) ? tool_plan : undefined;
  const thought = plan === undefined ? reasoning : thinking;
  const content = [
    ...(thought ? [{ type: 'thinking', thinking: thought }] : []),
    ...(text || refusal ? [{ type: 'text', text: text || refusal }] : []),
  ];
  return {
    role: 'assistant',
    ...(content.length > 0 && { content }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toFunctionCall), tool_plan: plan }),
    ...(content.length === 0 && toolCalls.length === 0 && { content: '' }),
    citations: cited === (text ?? '') ? citations : undefined,
  };
}

/** True if the reasoning of a message is unchanged: the parts of the model, in any order. */
function isReasoning(reasoning = '', ...parts: readonly unknown[]): boolean {
  return [parts, parts.toReversed()].some((order) => order.join('') === reasoning);
}

function toContent(content: string | readonly ContentPart[]): unknown {
  return typeof content === 'string' ? content : content.map(toPart);
}

function toPart(part: ContentPart): unknown {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: addressOf(part, 'CohereChatModel') } };
    case 'raw':
      return part.value;
    default:
      throw new InvalidArgumentError(
        `CohereChatModel: messages have text, images and raw parts such as documents; a part of the type ${part.type} cannot be sent`,
      );
  }
}
