import type { ChatOptions, ResponseFormat } from '../../core/chat/chat-options.js';
import { textOf, type Message } from '../../core/chat/message.js';
import type { ToolDefinition } from '../../core/chat/tool-definition.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { nonEmptyString, type JsonObject } from '../../core/internal/options.js';
import { markedTools, marksFor } from './cache-marks.js';
import { toFilePart, toResultFile, type Dialect, type Media } from './files.js';
import { keptOf, toAssistantParts, withOptions } from './kept-parts.js';
import { joinResults, toParts, toResultPart } from './message-parts.js';

/** Options that specification v3 has no place for; providers have their own names for them. */
const WITHOUT_PLACE = [
  'parallelToolCalls',
  'logprobs',
  'topLogprobs',
  'user',
  'metadata',
] as const satisfies readonly (keyof ChatOptions)[];

/** Options of a request that a model of the AI SDK does not get, in the form of its warnings. */
export function unsupportedOptions(
  options: ChatOptions,
  modelId: string,
  isV4: boolean,
): readonly JsonObject[] {
  const names: string[] = WITHOUT_PLACE.filter((name) => options[name] !== undefined);
  if (options.reasoningEffort !== undefined && !isV4) names.push('reasoningEffort');
  if (options.model !== undefined && options.model !== modelId) names.push('model');
  return names.map((feature) => ({
    type: 'unsupported',
    feature,
    details:
      feature === 'model'
        ? `the model is bound to ${modelId}`
        : 'give it to the provider as extraBody: { providerOptions }',
  }));
}

/** Options that have the same name and meaning in the AI SDK. */
const SAME = [
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'stopSequences',
] as const satisfies readonly (keyof ChatOptions)[];

/** The options that need no conversion, to and from the AI SDK. */
export function sameOptions(options: JsonObject): JsonObject {
  return Object.fromEntries(SAME.map((name) => [name, options[name]]));
}

/** Options of a request in the form of the AI SDK; `extraBody` wins. */
export function toCallFields(options: ChatOptions, provider: string, isV4: boolean): JsonObject {
  const { tools = [], providerTools = [], responseFormat, toolChoice } = options;
  const offered = tools.map(({ definition }) =>
    toFunctionTool(definition, options.strictTools, provider.replace(/\..*$/, '')),
  );
  const marks = marksFor(provider, options.promptCache);
  const all = [...markedTools(offered, marks), ...providerTools.map(toProviderTool)];
  const fields = {
    maxOutputTokens: options.maxCompletionTokens ?? options.maxTokens,
    ...sameOptions({ ...options }),
    responseFormat: responseFormat && toFormat(responseFormat),
    reasoning: isV4 ? options.reasoningEffort : undefined,
    tools: all.length > 0 ? all : undefined,
    toolChoice: all.length > 0 && toolChoice !== undefined ? toChoice(toolChoice) : undefined,
    ...options.extraBody,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function toFormat(format: ResponseFormat): JsonObject {
  if (typeof format === 'string') return { type: format };
  const { schema, name } = format;
  return { type: 'json', schema, ...(name !== undefined && { name }) };
}

function toChoice(choice: NonNullable<ChatOptions['toolChoice']>): JsonObject {
  return typeof choice === 'object' ? { type: 'tool', toolName: choice.tool } : { type: choice };
}

function toFunctionTool(
  { name, description, inputSchema, deferLoading, strict: own }: ToolDefinition,
  strictTools: boolean | undefined,
  provider: string,
): JsonObject {
  const strict = own ?? strictTools;
  const tool = { type: 'function', name, description, inputSchema };
  return withOptions(
    strict === undefined ? tool : { ...tool, strict },
    deferLoading ? { [provider]: { deferLoading: true } } : undefined,
  );
}

/** A tool of a provider, as its package makes it or written by hand. */
function toProviderTool({ id, name, args = {} }: JsonObject): JsonObject {
  const [, short] = /^[^.]+\.(.+)$/.exec(String(id)) ?? [];
  if (short === undefined)
    throw new InvalidArgumentError(
      'AiSdkChatModel: a tool in providerTools needs an `id` such as "openai.web_search" and `args`',
    );
  return { type: 'provider', id, name: nonEmptyString(name) ?? short, args };
}

/** Messages in the form of the AI SDK: the results of a batch are one message. */
export function toPrompt(
  messages: readonly Message[],
  provider: string,
  dialect: Dialect,
): readonly JsonObject[] {
  const converted = messages.map((message) => {
    const { role, metadata } = message;
    const content = toContent(message, provider, dialect);
    const options = metadata?.['providerOptions'];
    return { role, content, ...(options !== undefined && { providerOptions: options }) };
  });
  // a model may reject a message of the assistant that is empty
  const sent = converted.filter((each) => each.role !== 'assistant' || each.content.length > 0);
  return joinResults(sent);
}

function toContent(
  message: Message,
  provider: string,
  dialect: Dialect,
): string | readonly unknown[] {
  const toFile = (part: Media): JsonObject => toFilePart(part, dialect);
  switch (message.role) {
    case 'system':
      return textOf(message);
    case 'user': {
      const { content, metadata } = message;
      if (typeof content === 'string') return [{ type: 'text', text: content }];
      return toParts(content, keptOf(metadata), toFile);
    }
    case 'assistant':
      return toAssistantParts(message, provider, toFile);
    case 'tool':
      return [toResultPart(message, (part) => toResultFile(part, dialect))];
  }
}
