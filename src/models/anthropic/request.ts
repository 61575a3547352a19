import type { ChatOptions, PromptCache } from '../../core/chat/chat-options.js';
import type { Message } from '../../core/chat/message.js';
import type { ToolDefinition } from '../../core/chat/tool-definition.js';
import type { JsonObject } from '../../core/internal/options.js';
import { withExtra } from '../http/fields.js';
import { cached } from './cache-marks.js';
import { isEnforceable, toEnforced } from './enforced-schema.js';
import { toConversation } from './messages.js';

/** Default of `max_tokens`, which the API requires. */
const MAX_TOKENS = 8_192;

/** The body of a request, from messages and the fields of {@link toOptionFields}. */
export function toRequestBody(
  messages: readonly Message[],
  fields: JsonObject,
  isStream: boolean,
  cache?: PromptCache,
): JsonObject {
  return { ...toConversation(messages, cache), ...fields, ...(isStream && { stream: true }) };
}

/** The fields of a request body that options make; `extraBody` wins. JSON omits undefined ones. */
export function toOptionFields(options: ChatOptions): JsonObject {
  const { tools = [], providerTools = [], promptCache } = options;
  const offered = tools.map(({ definition }) => toOfferedTool(definition, options.strictTools));
  const all = cached([...offered, ...providerTools], promptCache?.tools);
  return withExtra(
    {
      ...(all.length > 0 && { tools: all, tool_choice: toToolChoice(options) }),
      model: options.model,
      max_tokens: options.maxCompletionTokens ?? options.maxTokens ?? MAX_TOKENS,
      temperature: options.temperature,
      top_p: options.topP,
      top_k: options.topK,
      stop_sequences: options.stopSequences,
      metadata: options.user === undefined ? undefined : { user_id: options.user },
      output_config: toOutputConfig(options),
    },
    options.extraBody,
    NESTED,
  );
}

/** Objects that options and `extraBody` make together. */
const NESTED = ['metadata', 'output_config'];

function toOfferedTool(
  { name, description, inputSchema, deferLoading, strict: own }: ToolDefinition,
  strictTools: boolean | undefined,
): JsonObject {
  const strict = own ?? (strictTools === true && isEnforceable(inputSchema));
  return {
    name,
    ...(description !== '' && { description }),
    input_schema: strict ? toEnforced(inputSchema) : inputSchema,
    ...(strict && { strict }),
    ...(deferLoading && { defer_loading: true }),
  };
}

/** Parallel calls are a part of the choice in this API. */
function toToolChoice({ toolChoice, parallelToolCalls }: ChatOptions): JsonObject | undefined {
  const single = parallelToolCalls === false && { disable_parallel_tool_use: true };
  if (typeof toolChoice === 'object') return { type: 'tool', name: toolChoice.tool, ...single };
  if (toolChoice === 'none') return { type: 'none' };
  if (toolChoice === 'required') return { type: 'any', ...single };
  return toolChoice === 'auto' || single ? { type: 'auto', ...single } : undefined;
}

function toOutputConfig({ reasoningEffort, responseFormat }: ChatOptions): JsonObject | undefined {
  const schema = typeof responseFormat === 'object' ? responseFormat.schema : undefined;
  if (reasoningEffort === undefined && schema === undefined) return undefined;
  return {
    ...(reasoningEffort !== undefined && { effort: reasoningEffort }),
    ...(schema && { format: { type: 'json_schema', schema: toEnforced(schema) } }),
  };
}
