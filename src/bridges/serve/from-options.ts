import type { ChatOptions, ResponseFormat, ToolChoice } from '../../core/chat/chat-options.js';
import type { JsonObject } from '../../core/internal/options.js';
import type { Tool } from '../../core/tool/tool.js';
import {
  asBoolean,
  asFunctionName,
  asInteger,
  asList,
  asName,
  asNumber,
  asObject,
  asText,
  needed,
  optional,
  refuse,
  type Reader,
} from './fields.js';

const MAX_STOPS = 16;
const MAX_LABELS = 16;
/** Fields whose meaning would be lost without a word. */
const REFUSED = ['functions', 'function_call', 'audio', 'web_search_options'] as const;

/** Options of a request; fields that only its sender needs are ignored. */
export function fromOptions(body: JsonObject, tools: readonly Tool[]): ChatOptions {
  for (const name of REFUSED)
    if (body[name] !== undefined && body[name] !== null) refuse(name, 'it is not supported');
  if ((optional(body, 'n', '', asInteger(1)) ?? 1) > 1) refuse('n', 'it must be 1');
  if (optional(body, 'logprobs', '', asBoolean)) refuse('logprobs', 'it is not supported');
  const fields: ChatOptions = {
    temperature: optional(body, 'temperature', '', asNumber(0, 2)),
    topP: optional(body, 'top_p', '', asNumber(0, 1)),
    frequencyPenalty: optional(body, 'frequency_penalty', '', asNumber(-2, 2)),
    presencePenalty: optional(body, 'presence_penalty', '', asNumber(-2, 2)),
    maxTokens: optional(body, 'max_tokens', '', asInteger(1)),
    maxCompletionTokens: optional(body, 'max_completion_tokens', '', asInteger(1)),
    stopSequences: optional(body, 'stop', '', asStops),
    seed: optional(body, 'seed', '', asInteger(-Number.MAX_SAFE_INTEGER)),
    toolChoice: optional(body, 'tool_choice', '', asChoiceOf(tools)),
    parallelToolCalls: optional(body, 'parallel_tool_calls', '', asBoolean),
    responseFormat: optional(body, 'response_format', '', asFormat),
    reasoningEffort: optional(body, 'reasoning_effort', '', asName(32)),
    user: optional(body, 'user', '', asName(512)),
    metadata: optional(body, 'metadata', '', asLabels),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const asStops: Reader<readonly string[]> = (value, path) =>
  typeof value === 'string' ? [value] : asList(MAX_STOPS, asText)(value, path);

const asLabels: Reader<Readonly<Record<string, string>>> = (value, path) => {
  const entries = Object.entries(asObject(value, path));
  if (entries.length > MAX_LABELS) return refuse(path, `it has more than ${MAX_LABELS} fields`);
  return Object.fromEntries(entries.map(([name, text]) => [name, asText(text, `${path}.${name}`)]));
};

const asChoiceOf =
  (tools: readonly Tool[]): Reader<ToolChoice> =>
  (value, path) => {
    if (value === 'auto' || value === 'none' || value === 'required') return value;
    const choice = asObject(value, path);
    if (choice['type'] !== 'function') return refuse(`${path}.type`, 'it must be function');
    const chosen = needed(choice, 'function', `${path}.`, asObject);
    const tool = needed(chosen, 'name', `${path}.function.`, asFunctionName);
    const isOffered = tools.some(({ definition }) => definition.name === tool);
    return isOffered ? { tool } : refuse(`${path}.function.name`, 'no tool has this name');
  };

const asFormat: Reader<ResponseFormat> = (value, path) => {
  const format = asObject(value, path);
  if (format['type'] === 'text') return 'text';
  if (format['type'] === 'json_object') return 'json';
  if (format['type'] !== 'json_schema')
    return refuse(`${path}.type`, 'it is one of text, json_object, json_schema');
  const given = needed(format, 'json_schema', `${path}.`, asObject);
  return {
    schema: needed(given, 'schema', `${path}.json_schema.`, asObject),
    name: needed(given, 'name', `${path}.json_schema.`, asFunctionName),
    strict: optional(given, 'strict', `${path}.json_schema.`, asBoolean) ?? false,
  };
};
