import type { Metadata } from '../../chat/message.js';
import { isPlainObject, type JsonObject } from '../../internal/options.js';

/** Key of the provider's fields in the metadata of messages and calls. */
const KEY = 'openai';

/** Fields of a response that its provider needs in the next request: reasoning, signatures. */
export const ECHOED = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thought_signature',
  'extra_content',
  'thinking_blocks',
] as const;

/** Metadata with the fields to send back; an empty object if there are none. */
export function toMetadata(fields: JsonObject): { readonly metadata?: Metadata } {
  return Object.keys(fields).length > 0 ? { metadata: { [KEY]: fields } } : {};
}

/** The fields to send back, from metadata. */
export function fromMetadata(metadata: Metadata | undefined): JsonObject | undefined {
  return metadata?.[KEY] as JsonObject | undefined;
}

/** Adds fields of a message, a delta or a call: appends texts, merges lists, replaces others. */
export function collectEchoed(echo: Record<string, unknown>, fields: JsonObject): JsonObject {
  for (const name of ECHOED) {
    const value = fields[name] ?? '';
    if (value !== '' && !(Array.isArray(value) && value.length === 0))
      echo[name] = name === 'thought_signature' ? value : joined(echo[name], value);
  }
  return echo;
}

/** Parts of a message with further content; a text is a part only after a list of parts. */
export function addContent(
  parts: readonly unknown[],
  content: unknown,
  textBefore: string,
): readonly unknown[] {
  if (typeof content === 'string')
    return content === '' || parts.length === 0 ? parts : addPieces(parts, [toPart(content)]);
  if (!Array.isArray(content)) return parts;
  const first = parts.length === 0 && textBefore !== '' ? [toPart(textBefore)] : parts;
  return addPieces(first, content.filter(isPlainObject));
}

const toPart = (text: string): JsonObject => ({ type: 'text', text });

/** Details with further pieces, each of which may continue a detail from before. */
function addPieces(details: readonly unknown[], pieces: readonly unknown[]): readonly unknown[] {
  const merged = [...details];
  for (const piece of pieces) {
    const at = details.findLastIndex((_, index) =>
      continues(merged[index], piece, index === merged.length - 1),
    );
    if (at < 0) merged.push(piece);
    else merged[at] = mergeDetail(merged[at] as JsonObject, piece as JsonObject);
  }
  return merged;
}

/** Same `index` and `type`; without an index, the last detail goes on until it is signed. */
function continues(detail: unknown, piece: unknown, isLast: boolean): boolean {
  if (!isPlainObject(detail) || !isPlainObject(piece)) return false;
  const { type, index, id } = piece;
  if (detail['type'] !== type || detail['index'] !== index) return false;
  if (index === undefined) return isLast && !detail['signature'];
  return !detail['id'] || !id || detail['id'] === id;
}

const APPENDED: ReadonlySet<string> = new Set(['text', 'summary', 'data', 'thinking']);

function mergeDetail(before: JsonObject, piece: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(piece))
    if (value !== null && value !== undefined)
      merged[name] = APPENDED.has(name) ? joined(merged[name], value) : value;
  return merged;
}

/** Two texts or two lists as one; any other value replaces the one before. */
function joined(before: unknown, value: unknown): unknown {
  if (typeof before === 'string' && typeof value === 'string') return before + value;
  return Array.isArray(value) ? addPieces(Array.isArray(before) ? before : [], value) : value;
}
