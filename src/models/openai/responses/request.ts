import type { ChatOptions, ResponseFormat } from '../../../core/chat/chat-options.js';
import type { Message } from '../../../core/chat/message.js';
import type { Prompt } from '../../../core/chat/prompt.js';
import type { OfferedTool, ToolDefinition } from '../../../core/chat/tool-definition.js';
import type { JsonObject } from '../../../core/internal/options.js';
import { withExtra } from '../../http/fields.js';
import { appendJson, joinBody } from '../request.js';
import { toStrictSchema } from '../strict-schema.js';
import { toInput } from './input.js';

/** The body of a request, from messages and the fields of {@link toOptionFields}. */
export function toRequestBody(messages: readonly Message[], fields: JsonObject): JsonObject {
  return { input: toInput(messages), ...fields };
}

/** The body of a request as JSON text; each message is written once along a growing prompt. */
export function toRequestText(prompt: Prompt, fields: JsonObject): string {
  if ('input' in fields) return JSON.stringify(fields); // an extra field of the caller
  return joinBody('input', prompt.fold(appendInput), fields);
}

function appendInput(before: string | undefined, added: readonly Message[]): string {
  return appendJson(before, toInput(added));
}

/** The fields of a request body that options make; `extraBody` wins. JSON omits undefined ones. */
export function toOptionFields(options: ChatOptions): JsonObject {
  const { tools = [], providerTools = [], responseFormat, reasoningEffort, extraBody } = options;
  const hasTools = tools.length + providerTools.length > 0;
  const fields = {
    ...(hasTools && toolFields(tools, providerTools, options)),
    model: options.model,
    temperature: options.temperature,
    top_p: options.topP,
    max_output_tokens: options.maxCompletionTokens ?? options.maxTokens,
    top_logprobs: options.topLogprobs,
    user: options.user,
    metadata: options.metadata,
    reasoning: reasoningEffort === undefined ? undefined : { effort: reasoningEffort },
    text: responseFormat && { format: toFormat(responseFormat) },
    include: toInclude(options),
  };
  return withExtra(fields, extraBody, NESTED);
}

/** Objects that options and `extraBody` make together. */
const NESTED = ['reasoning', 'text'];

/** Reasoning that the server does not store comes encrypted, and is lost unless it is asked for. */
function toInclude({ extraBody, logprobs }: ChatOptions): readonly string[] | undefined {
  const include = [
    ...(extraBody?.['store'] === false ? ['reasoning.encrypted_content'] : []),
    ...(logprobs ? ['message.output_text.logprobs'] : []),
  ];
  return include.length > 0 ? include : undefined;
}

function toFormat(format: ResponseFormat): JsonObject {
  if (format === 'text') return { type: 'text' };
  if (format === 'json') return { type: 'json_object' };
  const { name = 'response', strict = true, schema } = format;
  return { type: 'json_schema', name, strict, schema: strict ? toStrictSchema(schema) : schema };
}

function toolFields(
  tools: readonly OfferedTool[],
  providerTools: readonly JsonObject[],
  { strictTools, toolChoice, parallelToolCalls }: ChatOptions,
): JsonObject {
  const offered = tools.map(({ definition }) => toOfferedTool(definition, strictTools));
  return {
    tools: [...offered, ...providerTools],
    tool_choice:
      typeof toolChoice === 'object' ? { type: 'function', name: toolChoice.tool } : toolChoice,
    parallel_tool_calls: parallelToolCalls,
  };
}

/** A function without `strict` would be strict in this API, whatever its schema. */
function toOfferedTool(
  { name, description, inputSchema, deferLoading, strict: own }: ToolDefinition,
  strictTools = false,
): JsonObject {
  const strict = own ?? strictTools;
  const parameters = strict ? toStrictSchema(inputSchema) : inputSchema;
  return {
    type: 'function',
    name,
    description,
    parameters,
    strict,
    ...(deferLoading && { defer_loading: true }),
  };
}
