import type { Metadata } from '../../chat/message.js';
import { isWire, type Wire } from './wire-json.js';

/** Where the fields of the provider are kept in the metadata of messages and calls. */
const KEY = 'openai';

/** Fields of an answer that its provider wants to see again in the next request: reasoning, signatures. */
export const ECHOED = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thought_signature',
  'extra_content',
  'thinking_blocks',
] as const;

/** The fields to be sent back, of a complete message or call. */
export function echoedFields(fields: Wire): Wire {
  const echo: Record<string, unknown> = {};
  for (const name of ECHOED) if (hasValue(fields[name])) echo[name] = fields[name];
  return echo;
}

/** Metadata that holds fields to be sent back; nothing if there are none. */
export function toMetadata(fields: Wire): { readonly metadata?: Metadata } {
  return Object.keys(fields).length > 0 ? { metadata: { [KEY]: fields } } : {};
}

/** The fields to be sent back, from metadata. */
export function fromMetadata(metadata: Metadata | undefined): Wire | undefined {
  return metadata?.[KEY] as Wire | undefined;
}

/** Adds the fields of a delta: reasoning texts grow, lists of details are merged, anything else is replaced. */
export function collectEchoed(echo: Record<string, unknown>, delta: Wire): void {
  for (const name of ECHOED) {
    const value = delta[name];
    if (!hasValue(value)) continue;
    const before = echo[name];
    if (Array.isArray(value)) mergeDetails((echo[name] = Array.isArray(before) ? (before as unknown[]) : []), value);
    else echo[name] = typeof value === 'string' && typeof before === 'string' && name !== 'thought_signature' ? before + value : value;
  }
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

function mergeDetails(details: unknown[], pieces: readonly unknown[]): void {
  const known = details.length;
  for (const piece of pieces) {
    const at = isWire(piece) ? details.findLastIndex((detail, place) => isWire(detail) && continues(detail, piece, place, known)) : -1;
    if (at < 0) details.push(piece);
    else details[at] = mergeDetail(details[at] as Wire, piece as Wire);
  }
}

/** Pieces of one detail have the same `index` and `type`; without an index, a piece goes on with the detail before it until that is signed. */
function continues(detail: Wire, piece: Wire, place: number, known: number): boolean {
  if (detail['type'] !== piece['type'] || detail['index'] !== piece['index']) return false;
  if (piece['index'] === undefined) return place === known - 1 && !detail['signature'];
  return !detail['id'] || !piece['id'] || detail['id'] === piece['id'];
}

const GROWING: ReadonlySet<string> = new Set(['text', 'summary', 'data', 'thinking']);

function mergeDetail(before: Wire, piece: Wire): Wire {
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const old = merged[name];
    merged[name] = GROWING.has(name) && typeof old === 'string' && typeof value === 'string' ? old + value : value;
  }
  return merged;
}
