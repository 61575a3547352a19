import type { Metadata } from '../../chat/message.js';
import { isPlainObject } from '../../internal/options.js';
import type { JsonObject } from '../http/json-object.js';

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

/** The fields to send back, of a complete message or call. */
export function echoedFields(fields: JsonObject): JsonObject {
  const echo: Record<string, unknown> = {};
  for (const name of ECHOED) if (hasValue(fields[name])) echo[name] = fields[name];
  return echo;
}

/** Metadata with the fields to send back; an empty object if there are none. */
export function toMetadata(fields: JsonObject): { readonly metadata?: Metadata } {
  return Object.keys(fields).length > 0 ? { metadata: { [KEY]: fields } } : {};
}

/** The fields to send back, from metadata. */
export function fromMetadata(metadata: Metadata | undefined): JsonObject | undefined {
  return metadata?.[KEY] as JsonObject | undefined;
}

/** Adds the fields of a delta: appends texts, merges lists of details, replaces the rest. */
export function collectEchoed(echo: Record<string, unknown>, delta: JsonObject): void {
  for (const name of ECHOED) {
    const value = delta[name];
    if (!hasValue(value)) continue;
    const before = echo[name];
    if (Array.isArray(value))
      mergeDetails((echo[name] = Array.isArray(before) ? (before as unknown[]) : []), value);
    else echo[name] = name === 'thought_signature' ? value : joined(before, value);
  }
}

function hasValue(value: unknown): boolean {
  return (value ?? '') !== '' && !(Array.isArray(value) && value.length === 0);
}

function mergeDetails(details: unknown[], pieces: readonly unknown[]): void {
  const known = details.length;
  for (const piece of pieces) {
    const at = isPlainObject(piece)
      ? details.findLastIndex(
          (detail, index) => isPlainObject(detail) && continues(detail, piece, index, known),
        )
      : -1;
    if (at < 0) details.push(piece);
    else details[at] = mergeDetail(details[at] as JsonObject, piece as JsonObject);
  }
}

/**
 * A piece continues a detail with the same `index` and `type`; without an index, the previous one
 * until that is signed.
 */
function continues(detail: JsonObject, piece: JsonObject, index: number, known: number): boolean {
  if (detail['type'] !== piece['type'] || detail['index'] !== piece['index']) return false;
  if (piece['index'] === undefined) return index === known - 1 && !detail['signature'];
  return !detail['id'] || !piece['id'] || detail['id'] === piece['id'];
}

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
  return Array.isArray(before) && Array.isArray(value)
    ? [...(before as unknown[]), ...(value as unknown[])].reduce(appendPiece, [])
    : value;
}

const APPENDED: ReadonlySet<string> = new Set(['text', 'summary', 'data', 'thinking']);

function appendPiece(pieces: unknown[], piece: unknown): unknown[] {
  mergeDetails(pieces, [piece]);
  return pieces;
}

/** Joins streamed content parts, thinking among them (Mistral), with neighbors of their type. */
export class ContentParts {
  private readonly parts: unknown[] = [];

  /** The parts in order; undefined without thinking, because the text is complete then. */
  get withThinking(): readonly unknown[] | undefined {
    return this.parts.some((part) => isPlainObject(part) && part['type'] === 'thinking')
      ? this.parts
      : undefined;
  }

  /** @param before text of the message before these pieces */
  add(pieces: unknown, before: string): void {
    if (!Array.isArray(pieces)) return;
    if (this.parts.length === 0 && before !== '') this.parts.push({ type: 'text', text: before });
    for (const piece of pieces) if (isPlainObject(piece)) appendPiece(this.parts, piece);
  }

  /** Adds content that comes as a string, between or after parts. */
  addText(text: string): void {
    if (text !== '' && this.parts.length > 0) appendPiece(this.parts, { type: 'text', text });
  }
}
