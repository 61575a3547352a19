import type { Usage } from '../../chat/usage.js';
import { isWire, type Wire } from './wire-json.js';

/** Usage as far as it was reported; a count that is missing or null stays absent, never 0 by itself. */
export function toUsage(usage: unknown): Usage | undefined {
  if (!isWire(usage)) return undefined;
  const input = countOf(usage, 'prompt_tokens', 'input_tokens');
  const output = countOf(usage, 'completion_tokens', 'output_tokens');
  const total = countOf(usage, 'total_tokens');
  if (input === undefined && output === undefined && total === undefined) return undefined;
  const cached =
    countOf(detailsOf(usage, 'prompt_tokens_details'), 'cached_tokens') ??
    countOf(usage, 'prompt_cache_hit_tokens', 'cached_tokens', 'cache_read_input_tokens', 'num_cached_tokens');
  const reasoning = countOf(detailsOf(usage, 'completion_tokens_details'), 'reasoning_tokens') ?? countOf(usage, 'reasoning_tokens');
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    totalTokens: total ?? (input ?? 0) + (output ?? 0),
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

/**
 * Usage where servers put it that do not use its own field: in Groq's (`x_groq`), or in the choice that ended (Moonshot).
 * @param body a completion, or the fields of the chunks of one
 */
export function usageElsewhere(body: Wire, choice: Wire | undefined): Usage | undefined {
  return toUsage(detailsOf(body, 'x_groq')['usage']) ?? toUsage(choice?.['usage']);
}

function detailsOf(usage: Wire, name: string): Wire {
  const details = usage[name];
  return isWire(details) ? details : {};
}

function countOf(usage: Wire, ...names: readonly string[]): number | undefined {
  const value = names.map((name) => usage[name]).find((count) => typeof count === 'number' && Number.isFinite(count) && count >= 0);
  return value as number | undefined;
}
