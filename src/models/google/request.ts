import type { ChatOptions, ResponseFormat, ToolChoice } from '../../core/chat/chat-options.js';
import type { OfferedTool } from '../../core/chat/tool-definition.js';
import type { JsonObject } from '../../core/internal/options.js';
import { definedFields, withExtra } from '../http/fields.js';
import { toGoogleSchema } from './schema.js';

/** True for models from Gemini 3 on: they think by levels, and take media in results of tools. */
export function isGemini3(model = ''): boolean {
  return /gemini-(?:[3-9]|\d\d|(?:pro|flash|flash-lite)-latest)/.test(model);
}

/** Objects that options and `extraBody` make together. */
const NESTED = [
  'generationConfig',
  'thinkingConfig',
  'toolConfig',
  'functionCallingConfig',
  'labels',
];

/** The fields of a request body that options make; `extraBody` is merged into them and wins. */
export function toOptionFields(options: ChatOptions, isVertex: boolean): JsonObject {
  const fields = {
    ...toolFields(options),
    generationConfig: definedFields(toGenerationConfig(options)),
    labels: isVertex ? options.metadata : undefined,
  };
  return withExtra(fields, options.extraBody, NESTED);
}

function toGenerationConfig(options: ChatOptions): JsonObject {
  const { responseFormat, reasoningEffort, model } = options;
  return {
    temperature: options.temperature,
    topP: options.topP,
    topK: options.topK,
    frequencyPenalty: options.frequencyPenalty,
    presencePenalty: options.presencePenalty,
    maxOutputTokens: options.maxCompletionTokens ?? options.maxTokens,
    stopSequences: options.stopSequences,
    seed: options.seed,
    responseLogprobs: options.logprobs,
    logprobs: options.topLogprobs,
    thinkingConfig: reasoningEffort && toThinkingConfig(reasoningEffort, isGemini3(model)),
    ...(responseFormat && toFormat(responseFormat)),
  };
}

/** Tokens of thinking for models before Gemini 3, as in Google's API that is compatible with OpenAI. */
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
};

function toThinkingConfig(effort: string, hasLevels: boolean): JsonObject {
  const thinkingBudget = hasLevels ? undefined : BUDGETS[effort];
  return thinkingBudget === undefined ? { thinkingLevel: effort } : { thinkingBudget };
}

function toFormat(format: ResponseFormat): JsonObject {
  if (format === 'text') return {};
  const responseMimeType = 'application/json';
  if (format === 'json') return { responseMimeType };
  return { responseMimeType, responseJsonSchema: toGoogleSchema(format.schema) };
}

function toolFields({ tools = [], providerTools = [], ...options }: ChatOptions): JsonObject {
  if (tools.length + providerTools.length === 0) return {};
  if (tools.length === 0) return { tools: providerTools };
  const isStrict = tools.some(({ definition }) => definition.strict ?? options.strictTools);
  const functionCallingConfig = toCallingConfig(options.toolChoice, isStrict);
  return {
    tools: [{ functionDeclarations: tools.map(toDeclaration) }, ...providerTools],
    ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }),
  };
}

function toDeclaration({ definition }: OfferedTool): JsonObject {
  const { name, description, inputSchema } = definition;
  return { name, description, parametersJsonSchema: toGoogleSchema(inputSchema) };
}

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY' };

/** The API enforces schemas of all tools or of none; a forced call always fits its schema. */
function toCallingConfig(
  choice: ToolChoice | undefined,
  isStrict: boolean,
): JsonObject | undefined {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.tool] };
  if (isStrict && (choice === undefined || choice === 'auto')) return { mode: 'VALIDATED' };
  return choice && { mode: MODES[choice] };
}
