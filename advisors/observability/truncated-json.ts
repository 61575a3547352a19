import { isJsonText } from '../../src/core/internal/json.js';
import { truncate } from '../../src/core/internal/text.js';

type JsonValue = string | number | undefined | readonly JsonValue[] | JsonEntry;

/** An entry of a recorded list. */
export type JsonEntry = { readonly [name: string]: JsonValue };

/** Fields that are never truncated. */
const STRUCTURE = new Set(['type', 'role', 'modality']);

/** Fields whose text is written as a value if it is JSON. */
const JSON_FIELDS = new Set(['arguments', 'parameters', 'response']);

/** Minimum length to which texts are truncated before parts are omitted. */
const MIN_TEXT = 16;

/**
 * A JSON list of limited length, undefined if even an empty list is too long. The first entry that
 * does not fit is truncated, and all entries after it are omitted.
 * @param fromEnd true to begin with the last item, so that the first are omitted
 */
export function truncatedList<T>(
  items: readonly T[],
  toEntry: (item: T) => JsonEntry,
  maxLength: number,
  fromEnd = false,
): string | undefined {
  const entries: string[] = [];
  let room = maxLength - '[]'.length;
  if (room < 0) return undefined;
  for (const item of fromEnd ? items.toReversed() : items) {
    const entry = toEntry(item);
    const whole = stringify(entry, room);
    const json = whole.length <= room ? whole : truncateEntry(entry, room);
    if (json !== undefined) entries.push(json);
    if (json !== whole) break;
    room -= json.length + ','.length;
  }
  return `[${(fromEnd ? entries.reverse() : entries).join(',')}]`;
}

/** Truncates the texts of an entry, then omits parts from the end. */
function truncateEntry(entry: JsonEntry, room: number): string | undefined {
  const parts: readonly JsonValue[] = Array.isArray(entry['parts']) ? entry['parts'] : [];
  for (let count = parts.length || 1; count > 0; count >>= 1) {
    const shorter = count < parts.length ? { ...entry, parts: parts.slice(0, count) } : entry;
    const minLength = count === 1 ? 1 : MIN_TEXT;
    for (let maxText = room >> 1; maxText >= minLength; maxText >>= 1) {
      const json = stringify(shorter, maxText);
      if (json.length <= room) return json;
    }
  }
  return undefined;
}

/** @param maxText maximum characters of an unstructured text */
function stringify(value: JsonValue, maxText: number, name = ''): string {
  if (typeof value === 'string') return stringifyText(value, maxText, name);
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value))
    return `[${value.map((item: JsonValue) => stringify(item, maxText)).join(',')}]`;
  const fields = Object.entries(value).flatMap(([key, field]) =>
    field === undefined ? [] : [`${JSON.stringify(key)}:${stringify(field, maxText, key)}`],
  );
  return `{${fields.join(',')}}`;
}

/** JSON is written unchanged, to keep numbers of any size without recursion into it. */
function stringifyText(text: string, maxText: number, name: string): string {
  if (STRUCTURE.has(name)) return JSON.stringify(text);
  return text.length <= maxText && JSON_FIELDS.has(name) && isJsonText(text)
    ? text
    : JSON.stringify(truncate(text, Math.max(maxText, 0)));
}
