import type { JsonValue } from './json.js';

/** An array or object that is not complete yet. */
interface Level {
  /** Its complete entries. */
  readonly container: JsonValue[] | Record<string, JsonValue>;
  /** The last key of an object. */
  key: string;
  /** Cost of copying it. */
  cost: number;
}

/** Tokens that may follow. */
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end';

/** That of `parseJson`. */
const MAX_DEPTH = 200;
/** Copying a property takes that many times as long as copying an item. */
const PROPERTY_COST = 16;
const PLAIN_TEXT = /[^"\\]*/y;
const WORD = /[-+.\w]*/y;

/**
 * Reads an array or object while it is written, in linear time. Strings appear as they grow;
 * numbers, `true` and `false` when they are complete. Properties that are null are left out: models
 * in strict mode write them for absent ones.
 */
export class PartialJsonReader {
  status: 'open' | 'complete' | 'invalid' = 'open';
  /** Cost of a {@link snapshot}, which copies all open arrays and objects: their items, roughly. */
  cost = 0;
  /** True if the value has changed since the last snapshot. */
  hasChanged = false;
  private readonly levels: Level[] = [];
  private expected: Expected = 'value';
  private root: JsonValue | undefined;
  /** The open string, which may be a key. */
  private string: string | undefined;
  private isKey = false;
  /** The open escape sequence of the string. */
  private escape = '';
  /** First half of a surrogate pair at the end of the string. */
  private half = '';
  /** The open number or literal. */
  private word = '';

  get isOpen(): boolean {
    return this.status === 'open';
  }

  /** Reads on; returns the position after the last character that belongs to the value. */
  read(text: string, start: number): number {
    let at = start;
    while (at < text.length && this.isOpen) {
      if (this.string !== undefined) at = this.readString(text, at);
      else at = this.readWord(text, at) ?? this.readToken(text.charAt(at), at);
    }
    return at;
  }

  /** The value so far; later reading does not change it. */
  snapshot(): JsonValue | undefined {
    this.hasChanged = false;
    if (this.root !== undefined) return this.root;
    let value: JsonValue | undefined = this.isKey ? undefined : this.string;
    for (let depth = this.levels.length - 1; depth >= 0; depth--) {
      const { container, key } = this.levels[depth] as Level;
      const added: readonly JsonValue[] = value === undefined ? [] : [value];
      value = Array.isArray(container)
        ? container.concat(added)
        : { ...container, ...(value !== undefined && { [key]: value }) };
    }
    return value;
  }

  private readString(text: string, at: number): number {
    if (this.escape !== '') return this.readEscape(text.charAt(at), at);
    PLAIN_TEXT.lastIndex = at;
    PLAIN_TEXT.test(text);
    const end = PLAIN_TEXT.lastIndex;
    this.append(text.slice(at, end));
    if (end === text.length) return end;
    if (text.charAt(end) === '\\') this.escape = '\\';
    else this.endString();
    return end + 1;
  }

  private readEscape(char: string, at: number): number {
    this.escape += char;
    if (this.escape.length < (this.escape[1] === 'u' ? 6 : 2)) return at + 1;
    const text = parse(`"${this.escape}"`);
    this.escape = '';
    if (typeof text === 'string') this.append(text);
    else this.status = 'invalid';
    return at + 1;
  }

  private append(part: string): void {
    if (part === '') return;
    const text = this.half + part;
    const end = /[\uD800-\uDBFF]$/.test(part) ? text.length - 1 : text.length;
    this.half = text.slice(end);
    this.string += text.slice(0, end);
    this.hasChanged ||= !this.isKey && end > 0;
  }

  private endString(): void {
    const text = `${this.string}${this.half}`;
    this.string = undefined;
    this.half = '';
    if (!this.isKey) return this.add(text);
    this.isKey = false;
    this.expected = 'colon';
    (this.levels.at(-1) as Level).key = text;
    if (text === '__proto__') this.status = 'invalid'; // rejected in whole answers too
  }

  /** Reads a number or literal; undefined if there is none. */
  private readWord(text: string, at: number): number | undefined {
    if (!this.expected.startsWith('value')) return undefined;
    WORD.lastIndex = at;
    WORD.test(text);
    const end = WORD.lastIndex;
    if (end === at && this.word === '') return undefined;
    this.word += text.slice(at, end);
    if (end === text.length) return end;
    const value = parse(this.word);
    this.word = '';
    if (value === undefined) this.status = 'invalid';
    else this.add(value);
    return end;
  }

  private readToken(char: string, at: number): number {
    const isIn = (chars: string): boolean => chars.includes(char);
    if (isIn(' \n\r\t')) return at + 1;
    const { expected } = this;
    const isArray = Array.isArray(this.levels.at(-1)?.container);
    if (expected.startsWith('value') && isIn('{[')) this.open(char === '[');
    else if (expected.startsWith('value') && char === '"') this.openString(false);
    else if (expected.startsWith('key') && char === '"') this.openString(true);
    else if (expected === 'colon' && char === ':') this.expected = 'value';
    else if (expected.startsWith('comma') && char === ',')
      this.expected = isArray ? 'value' : 'key';
    else if (expected.endsWith('end') && char === (isArray ? ']' : '}')) this.close();
    else this.status = 'invalid';
    return at + 1;
  }

  private open(isArray: boolean): void {
    this.levels.push({ container: isArray ? [] : {}, key: '', cost: 0 });
    this.expected = isArray ? 'value or end' : 'key or end';
    this.hasChanged = true;
    if (this.levels.length > MAX_DEPTH) this.status = 'invalid';
  }

  private openString(isKey: boolean): void {
    this.string = '';
    this.isKey = isKey;
    this.hasChanged ||= !isKey;
  }

  private close(): void {
    const { container, cost } = this.levels.pop() as Level;
    const { hasChanged } = this;
    this.cost -= cost;
    this.add(container);
    this.hasChanged = hasChanged; // it was already there, open
  }

  private add(value: JsonValue): void {
    this.expected = 'comma or end';
    const level = this.levels.at(-1);
    if (!level) {
      this.root = value;
      this.status = 'complete';
      return;
    }
    const { container, key } = level;
    if (value === null && !Array.isArray(container)) return;
    this.hasChanged ||= typeof value !== 'string';
    if (Array.isArray(container)) container.push(value);
    else container[key] = value;
    const cost = Array.isArray(container) ? 1 : PROPERTY_COST;
    level.cost += cost;
    this.cost += cost;
  }
}

/** The value of a JSON text; undefined if it is none. */
function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
