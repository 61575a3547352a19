import type { Usage } from '../../core/chat/chat-response.js';
import { countOf, objectOf } from '../http/fields.js';
import { isPlainObject } from '../../core/internal/options.js';

/** Names that providers have for the tokens read from, and written to, their prompt cache. */
const CACHED = [
  'cached_tokens',
  'cachedContentTokenCount',
  'cache_read_input_tokens',
  'cacheReadInputTokens',
  'prompt_cache_hit_tokens',
  'num_cached_tokens',
];
const WRITTEN = ['cache_creation_input_tokens', 'cacheWriteInputTokens', 'cache_write_tokens'];
const REASONING = ['reasoning_tokens', 'thoughtsTokenCount'];
/** Depth of the details of a usage. */
const DEPTH = 3;

/** Usage; what the provider's package has lost is read from the usage as the provider sent it. */
export function toUsage(usage: unknown): Usage | undefined {
  if (!isPlainObject(usage)) return undefined;
  const { inputTokens, outputTokens, raw } = usage;
  const [into, out] = [objectOf(inputTokens), objectOf(outputTokens)];
  const input = countOf(into['total']);
  const output = countOf(out['total']);
  if (input === undefined && output === undefined) return undefined;
  const cached = countOf(into['cacheRead']) ?? find(raw, CACHED);
  const written = countOf(into['cacheWrite']) ?? find(raw, WRITTEN);
  const reasoning = countOf(out['reasoning']) ?? find(raw, REASONING);
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    totalTokens: (input ?? 0) + (output ?? 0),
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

/** The first count by one of the names, in the usage or in its details. */
function find(usage: unknown, names: readonly string[], depth = 0): number | undefined {
  if (!isPlainObject(usage) || depth === DEPTH) return undefined;
  for (const [name, value] of Object.entries(usage)) {
    const count = names.includes(name) ? countOf(value) : find(value, names, depth + 1);
    if (count !== undefined) return count;
  }
  return undefined;
}
