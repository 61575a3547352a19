import { isPlainObject, type JsonObject } from '../../core/internal/options.js';

/** Key of the provider's fields in the metadata of messages and calls. */
export const KEY = 'openai';

/** Fields of a response that its provider needs in the next request: reasoning, signatures. */
export const ECHOED = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thought_signature',
  'extra_content',
  'thinking_blocks',
] as const;

/** Adds fields of a message, a delta or a call: appends texts, merges lists, replaces others. */
export function collectEchoed(echo: Record<string, unknown>, fields: JsonObject): JsonObject {
  for (const name of ECHOED) {
    const value = fields[name] ?? '';
    if (value !== '' && !(Array.isArray(value) && value.length === 0))
      echo[name] = name === 'thought_signature' ? value : joinValues(echo[name], value);
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

const APPENDED: ReadonlySet<string> = new Set(['text', 'summary', 'data', 'thinking']);

/** Adds the fields of a piece to a detail, which is a copy. */
function merge(detail: Record<string, unknown>, piece: JsonObject): void {
  for (const [name, value] of Object.entries(piece))
    if (value !== null && value !== undefined)
      detail[name] = APPENDED.has(name) ? joinValues(detail[name], value) : value;
}

/** Two texts or two lists as one; any other value replaces the one before. */
function joinValues(before: unknown, value: unknown): unknown {
  if (typeof before === 'string' && typeof value === 'string') return before + value;
  return Array.isArray(value) ? addPieces(Array.isArray(before) ? before : [], value) : value;
}

/** Lists of this module. They grow in place: a copy per piece would take quadratic time. */
const openLists = new WeakMap<readonly unknown[], OpenList>();

/** Details with further pieces, each of which may continue a detail from before. */
function addPieces(details: readonly unknown[], pieces: readonly unknown[]): readonly unknown[] {
  const list = openLists.get(details) ?? new OpenList(details);
  list.add(pieces);
  return list.details;
}

/** A list of details whose pieces arrive. */
class OpenList {
  readonly details: unknown[] = [];
  /** Position of the last detail with an index and a type, and of the last that has its id too. */
  private readonly positions = new Map<string, number>();

  constructor(details: readonly unknown[]) {
    openLists.set(this.details, this);
    this.add(details);
  }

  /** Pieces that arrive together do not continue one another. */
  add(pieces: readonly unknown[]): void {
    const { length } = this.details;
    for (const piece of pieces)
      if (isPlainObject(piece)) this.addPiece(piece, length);
      else this.details.push(piece);
  }

  private addPiece(piece: JsonObject, length: number): void {
    const found = this.find(piece, length);
    if (found === undefined) this.keepPosition(piece, this.details.push({ ...piece }) - 1);
    else {
      merge(this.details[found] as Record<string, unknown>, piece);
      if (piece['id']) this.keepPosition(piece, found);
    }
  }

  /** Same `index` and `type`; without an index, the last detail continues until it is signed. */
  private find(piece: JsonObject, length: number): number | undefined {
    const { index, type, id } = piece;
    const { details, positions } = this;
    if (details.length === length && goesOn(details[length - 1], piece)) return length - 1;
    if (index === undefined) return undefined;
    const last = positions.get(positionKey(index, type)) ?? length;
    const before = id && last < length ? (details[last] as JsonObject)['id'] : undefined;
    const found = !before || before === id ? last : positions.get(positionKey(index, type, id));
    return found !== undefined && found < length ? found : undefined;
  }

  private keepPosition({ index, type, id }: JsonObject, position: number): void {
    if (index === undefined) return;
    for (const key of [positionKey(index, type), positionKey(index, type, id)])
      this.positions.set(key, Math.max(position, this.positions.get(key) ?? 0));
  }
}

/** True if a piece continues the last detail. */
function goesOn(last: unknown, { index, type, id }: JsonObject): boolean {
  if (!isPlainObject(last) || last['index'] !== index || last['type'] !== type) return false;
  return index === undefined ? !last['signature'] : !last['id'] || !id || last['id'] === id;
}

/** A text that is equal for equal values; objects are not distinguished. */
function positionKey(...values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'object' ? '{}' : JSON.stringify(value))).join();
}
