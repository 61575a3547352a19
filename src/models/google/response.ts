import type { Usage } from '../../core/chat/chat-response.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { sumOf, usageOf } from '../http/fields.js';

/** The fields of an object in camel case; some proxies write them in snake case. */
export function camelCased(fields: JsonObject): JsonObject {
  for (const name in fields)
    if (name.includes('_'))
      return Object.fromEntries(
        Object.entries(fields).map(([key, value]) => [toCamel(key), value]),
      );
  return fields;
}

function toCamel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Usage, undefined if none was reported. Thoughts are counted beside the answer, and the results of
 * tools that the provider runs beside the prompt.
 */
export function toUsage(usage: JsonObject): Usage | undefined {
  const thoughts = usage['thoughtsTokenCount'];
  return usageOf({
    input: sumOf(usage['promptTokenCount'], usage['toolUsePromptTokenCount']),
    output: sumOf(usage['candidatesTokenCount'], thoughts),
    total: usage['totalTokenCount'],
    cached: usage['cachedContentTokenCount'],
    reasoning: thoughts,
  });
}

/** Metadata of a candidate whose lists come in pieces, each with the text that it is about. */
const IN_PIECES: ReadonlySet<string> = new Set(['citationMetadata', 'logprobsResult']);

/** Adds metadata of a further event: fields of objects are joined, other values replaced. */
export function addMetadata(metadata: Record<string, unknown>, name: string, value: unknown): void {
  const before = metadata[name];
  if (value === null || value === undefined) return;
  if (!isPlainObject(before) || !isPlainObject(value)) addField(metadata, name, value);
  else if (IN_PIECES.has(name)) appendLists(before, value);
  else addFields(before, value);
}

/** Adds fields in place: a copy for each event would take quadratic time. */
export function addFields(target: Record<string, unknown>, fields: JsonObject): void {
  for (const name in fields) addField(target, name, fields[name]);
}

function addField(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value;
}

function appendLists(before: Record<string, unknown>, value: JsonObject): void {
  for (const name in value) {
    const [list, items] = [before[name], value[name]];
    if (Array.isArray(list) && Array.isArray(items)) for (const item of items) list.push(item);
    else addField(before, name, items);
  }
}
