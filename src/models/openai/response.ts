import type { Usage } from '../../core/chat/chat-response.js';
import { isPlainObject, type JsonObject, nonEmptyString } from '../../core/internal/options.js';
import { countOf, objectOf, usageOf } from '../http/fields.js';
import { ECHOED } from './echoed-fields.js';

/** Fields of a completion, or of a chunk of one, that are mapped. */
export const BODY_FIELDS = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);
/** Fields of a choice that are mapped. */
export const CHOICE_FIELDS = new Set(['index', 'message', 'delta', 'finish_reason', 'logprobs']);
/** Fields of a message that are mapped. */
export const MESSAGE_FIELDS = new Set([
  'role',
  'content',
  'tool_calls',
  'refusal',
  'annotations',
  ...ECHOED,
]);

/** Text and thinking in a string or a list of parts. */
export function readContent(content: unknown): Readonly<Record<'text' | 'reasoning', string>> {
  const result = { text: typeof content === 'string' ? content : '', reasoning: '' };
  for (const part of Array.isArray(content) ? content.filter(isPlainObject) : [])
    if (part['type'] === 'thinking') result.reasoning += readContent(part['thinking']).text;
    else result.text += nonEmptyString(part['text']) ?? '';
  return result;
}

/** Reasoning of a message or of a delta, in the dialect of the provider. */
export function reasoningOf(fields: JsonObject): string {
  const { reasoning_content: content, reasoning, reasoning_details: details } = fields;
  const text = nonEmptyString(content) ?? nonEmptyString(reasoning);
  if (text !== undefined || !Array.isArray(details)) return text ?? '';
  return details
    .filter(isPlainObject)
    .map((detail) => nonEmptyString(detail['text']) ?? nonEmptyString(detail['summary']) ?? '')
    .join('');
}

/** Names of the counts of a usage, in its details or beside them. */
const INPUT = ['prompt_tokens', 'input_tokens'];
const OUTPUT = ['completion_tokens', 'output_tokens'];
const TOTAL = ['total_tokens'];
const CACHED = [
  'cached_tokens',
  'prompt_cache_hit_tokens',
  'cache_read_input_tokens',
  'num_cached_tokens',
];
const WRITTEN = ['cache_write_tokens', 'cache_creation_input_tokens'];
const REASONING = ['reasoning_tokens'];

/** Usage, undefined if none was reported; counts that were not reported stay absent. */
export function toUsage(usage: unknown): Usage | undefined {
  if (!isPlainObject(usage)) return undefined;
  const ofInput = usage['prompt_tokens_details'] ?? usage['input_tokens_details'];
  const ofOutput = usage['completion_tokens_details'] ?? usage['output_tokens_details'];
  const parts = [objectOf(ofOutput), objectOf(ofInput), usage];
  return usageOf({
    input: firstCount(parts, INPUT),
    output: firstCount(parts, OUTPUT),
    total: firstCount(parts, TOTAL),
    cached: firstCount(parts, CACHED),
    written: firstCount(parts, WRITTEN),
    reasoning: firstCount(parts, REASONING),
  });
}

/** The first count by one of the names; each name is read in the first part that has it. */
function firstCount(parts: readonly JsonObject[], names: readonly string[]): number | undefined {
  for (const name of names) {
    for (const part of parts) {
      const count = part[name];
      if (count === undefined) continue;
      if (countOf(count) !== undefined) return countOf(count);
      break;
    }
  }
  return undefined;
}

/** Usage in other fields: in `x_groq` of the body (Groq) or in the last choice (Moonshot). */
export function usageElsewhere(
  body: JsonObject,
  choice: JsonObject | undefined,
): Usage | undefined {
  return toUsage(objectOf(body['x_groq'])['usage']) ?? toUsage(choice?.['usage']);
}
