import type { Usage } from '../../chat/chat-response.js';
import { isPlainObject, type JsonObject } from '../../internal/options.js';

/** A field that should be an object; an empty one if it is not. */
export function objectOf(value: unknown): JsonObject {
  return isPlainObject(value) ? value : {};
}

/** A field that should be a number >= 0, such as a count of tokens; undefined if it is not. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
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

/** The arguments of a call, for APIs that take an object; a text that is none is kept as a field. */
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

/** Usage of a request that has input tokens alone, such as one for embeddings. */
export function inputUsage(count: unknown): Usage | undefined {
  const inputTokens = countOf(count);
  return inputTokens === undefined
    ? undefined
    : { inputTokens, outputTokens: 0, totalTokens: inputTokens };
}
