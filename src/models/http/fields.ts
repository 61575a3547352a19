import type { Usage } from '../../core/chat/chat-response.js';
import type { Metadata } from '../../core/chat/message.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';

/** A field that should be an object; an empty one if it is not. */
export function objectOf(value: unknown): JsonObject {
  return isPlainObject(value) ? value : {};
}

/** A field that should be a number >= 0, such as a count of tokens; undefined if it is not. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The sum of the counts that were reported; undefined if none was. */
export function sumOf(...values: readonly unknown[]): number | undefined {
  const counts = values.map(countOf).filter((count) => count !== undefined);
  return counts.length > 0 ? counts.reduce((sum, count) => sum + count) : undefined;
}

/** Counts of tokens as a provider reports them. */
interface Counts {
  /** All input, with the part from caches. */
  readonly input: unknown;
  /** All output, reasoning included. */
  readonly output: unknown;
  /** Sum of the two, if the provider has its own. */
  readonly total?: unknown;
  readonly cached?: unknown;
  readonly written?: unknown;
  readonly reasoning?: unknown;
}

/** Usage, undefined if none was reported; counts that were not reported stay absent. */
export function usageOf(counts: Counts): Usage | undefined {
  const [input, output, total] = [counts.input, counts.output, counts.total].map(countOf);
  if (input === undefined && output === undefined && total === undefined) return undefined;
  const [inputTokens, outputTokens] = [input ?? 0, output ?? 0];
  const [cached, written, reasoning] = [counts.cached, counts.written, counts.reasoning].map(
    countOf,
  );
  return {
    inputTokens,
    outputTokens,
    totalTokens: total ?? inputTokens + outputTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

/** The fields under the key of a wire in the metadata of a message or a call. */
export function keptFields(
  { metadata }: { readonly metadata?: Metadata | undefined },
  key: string,
): JsonObject {
  return objectOf(metadata?.[key]);
}

/** Metadata with the fields that a wire wants back; nothing if there are none. */
export function toMetadata(key: string, fields: JsonObject): { readonly metadata?: Metadata } {
  return Object.keys(fields).length > 0 ? { metadata: { [key]: fields } } : {};
}

/** The fields that are not undefined; undefined if there are none. */
export function definedFields(fields: JsonObject): JsonObject | undefined {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return defined.length > 0 ? Object.fromEntries(defined) : undefined;
}

/**
 * The fields of a request, overridden by `extraBody`.
 * @param nested names of objects whose fields are merged one by one, since options make some of them
 */
export function withExtra(
  fields: JsonObject,
  extra: JsonObject = {},
  nested: readonly string[] = [],
): JsonObject {
  const merged: Record<string, unknown> = { ...fields, ...extra };
  for (const name of nested) {
    const [own, more] = [fields[name], extra[name]];
    if (isPlainObject(own) && isPlainObject(more)) merged[name] = withExtra(own, more, nested);
  }
  return merged;
}

/** Adds the fields that are neither mapped nor empty to `others`. */
export function addOtherFields(
  fields: JsonObject,
  mapped: ReadonlySet<string>,
  others: Record<string, unknown>,
): void {
  for (const name in fields) {
    const value = fields[name];
    if (!mapped.has(name) && value !== null && !(Array.isArray(value) && value.length === 0))
      others[name] = value;
  }
}

/** The arguments of a call, for APIs that take an object; other texts are kept as a field. */
export function argumentsObject(text: string): JsonObject {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isPlainObject(value)) return value;
  } catch {
    // a call that was refused; its result gives the model the reason
  }
  return { arguments: text };
}

/** Arguments as text; some servers send them as an object, or not at all. */
export function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Arguments that came as a whole as text; a function without parameters often has none. */
export function argumentsText(value: unknown): string {
  return argumentsOf(value) || '{}';
}

/** Usage of a request that has input tokens alone, such as one for embeddings. */
export function inputUsage(count: unknown): Usage | undefined {
  return usageOf({ input: count, output: undefined });
}
