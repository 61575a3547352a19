import type { Document, MetadataValue } from '../../core/chat/document.js';
import { BOOLEAN, isPlainObject, rule, TEXT } from '../../core/internal/options.js';
import { parseJson, type JsonValue } from '../../core/internal/json.js';
import { TimeSlice } from '../../core/internal/time-slice.js';
import { isScalar } from '../../stores/vectors/storable.js';
import { Reading, type FileContent, type ReadOptions } from './reading.js';

/** Options of {@link readJson}. */
export interface ReadJsonOptions extends ReadOptions {
  /** Reads JSON Lines (JSONL): each line is an item; blank ones are left out. @default false */
  readonly lines?: boolean | undefined;
  /** JSON Pointer to the list of items, such as `/data/items`. @default '' for the whole file */
  readonly pointer?: string | undefined;
  /** Field of an item that is its id, behind the id of the file. @default its index, which changes when items are inserted */
  readonly idField?: string | undefined;
  /** Fields that are the text of an item, in this order. @default all that are no metadata */
  readonly textFields?: readonly string[] | undefined;
  /** Fields that are metadata of an item; others than texts, numbers, booleans and lists of them are left out. @default none */
  readonly metadataFields?: readonly string[] | undefined;
}

const NAMES = rule('an array of names', Array.isArray);
const RULES = {
  lines: BOOLEAN,
  pointer: rule('a JSON Pointer, such as /items', (value) => /^(?:\/|$)/.test(String(value))),
  idField: TEXT,
  textFields: NAMES,
  metadataFields: NAMES,
};

/**
 * Reads JSON: a document for each item of a list, or one for any other value. The text has a line
 * `path: value` for each value, as in `address.city: Rome`; a single text stays as it was written.
 * @throws {@link DocumentReadError} if it is no valid JSON, also with repeated keys or more than 200
 * levels, or a limit is exceeded
 */
export function readJson(
  content: FileContent,
  options: ReadJsonOptions,
): Promise<readonly Document[]> {
  const read = async (reading: Reading): Promise<readonly Document[]> => {
    const value = valueAt(reading, await parsed(reading, options), options.pointer ?? '');
    if (!Array.isArray(value)) return [documentOf(reading, value, options)];
    const ids = new Set<string>();
    const documents: Document[] = [];
    const slice = new TimeSlice();
    for (const [at, item] of (value as readonly JsonValue[]).entries()) {
      await slice.next();
      const key = keyOf(item, at, options);
      if (ids.has(key)) throw reading.broken(`two items have the id "${key}"`);
      ids.add(key);
      documents.push(documentOf(reading, item, options, `${reading.id}#${key}`));
    }
    return documents;
  };
  return Reading.run('readJson', content, options, read, RULES);
}

async function parsed(reading: Reading, { lines = false }: ReadJsonOptions): Promise<JsonValue> {
  const { text } = reading;
  if (!lines) return parse(reading, text);
  const items: JsonValue[] = [];
  const slice = new TimeSlice();
  let number = 0;
  for (let at = 0; at < text.length;) {
    await slice.next();
    const feed = text.indexOf('\n', at);
    const end = feed < 0 ? text.length : feed;
    const line = text.slice(at, end);
    number++;
    if (line.trim() !== '') items.push(parse(reading, line, ` (line ${number})`));
    at = end + 1;
  }
  return items;
}

function parse(reading: Reading, text: string, place = ''): JsonValue {
  try {
    return parseJson(text);
  } catch (cause) {
    throw reading.broken(`${(cause as Error).message}${place}`, cause);
  }
}

function valueAt(reading: Reading, root: JsonValue, pointer: string): JsonValue {
  let value: unknown = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
      throw reading.broken(`it has no value at "${pointer}"`);
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value as JsonValue;
}

function keyOf(item: JsonValue, at: number, { idField }: ReadJsonOptions): string {
  const id = idField !== undefined && isPlainObject(item) ? item[idField] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : String(at);
}

function documentOf(
  reading: Reading,
  value: JsonValue,
  { textFields, metadataFields = [] }: ReadJsonOptions,
  id = reading.id,
): Document {
  if (!isPlainObject(value)) return reading.document(textOf(reading, value), {}, id);
  const others = Object.keys(value).filter((key) => !metadataFields.includes(key));
  const fields = (textFields ?? others).filter((key) => Object.hasOwn(value, key));
  const shown = Object.fromEntries(fields.map((key) => [key, value[key]]));
  const [first] = fields;
  const isOne = textFields?.length === 1 && first !== undefined;
  const text = textOf(reading, (isOne ? shown[first] : shown) as JsonValue);
  return reading.document(text, metadataOf(value, metadataFields), id);
}

function metadataOf(item: Readonly<Record<string, unknown>>, names: readonly string[]) {
  const entries = names.map((name) => [name, Object.hasOwn(item, name) ? item[name] : undefined]);
  const kept = entries.filter(([, value]) =>
    Array.isArray(value) ? value.every(isScalar) : isScalar(value),
  );
  return Object.fromEntries(kept) as Readonly<Record<string, MetadataValue>>;
}

/** A line for each value; its length is checked while it grows, since paths may be longer than values. */
function textOf(reading: Reading, value: JsonValue): string {
  if (typeof value === 'string') return value;
  const lines: string[] = [];
  let length = 0;
  const add = (path: string, inner: unknown): void => {
    if (typeof inner !== 'object' || inner === null) {
      const line = path === '' ? String(inner) : `${path}: ${String(inner)}`;
      reading.count(line.length);
      length += line.length;
      lines.push(line);
      return;
    }
    const isList = Array.isArray(inner);
    for (const [key, each] of Object.entries(inner)) {
      const nested = isList ? path : path === '' ? key : `${path}.${key}`;
      add(nested, each);
    }
  };
  add('', value);
  reading.count(-length); // counted again as a document
  return lines.join('\n');
}
