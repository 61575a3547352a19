import { endOfValue, type JsonValue } from './json.js';

/** An array or object that is not complete yet. */
interface Level {
  /** Its complete entries. */
  readonly container: JsonValue[] | Record<string, JsonValue>;
  /** The key of the value that follows; undefined in an array, and where a key follows. */
  key: string | undefined;
  size: number;
}

/** The same as in `parseJson`. */
const MAX_DEPTH = 200;
/** Copying a property takes that many times as long as copying an item. */
const PROPERTY_COST = 16;
const TOKEN = /[\s,:]+|[{}[\]"]|[-+.\w]+/y;
/** A part of a string, never with half of an escape sequence or of a surrogate pair at its end. */
const STRING_PART =
  /(?:[^"\\\uD800-\uDBFF]+|[\uD800-\uDBFF](?=[^])|\\[^u]|\\u(?![dD][89abAB])[\da-fA-F]{4}|\\u[\da-fA-F]{4}(?=[^\\]|\\[^u]|\\u[^]{4}))*/y;
/** Length of an escaped surrogate pair: a shorter text may be the beginning of one. */
const LONGEST_ESCAPE = 12;

/**
 * Reads an array or object while it is written, in linear time. Strings appear as they grow;
 * numbers, `true` and `false` when they are complete. Properties that are null are left out: models
 * in strict mode write them for absent ones. Commas and colons are not checked: whether the whole is
 * JSON shows when it is parsed.
 */
export class PartialJsonReader {
  status: 'open' | 'complete' | 'invalid' = 'open';
  /** Text after the value, or the beginning of an unfinished token. */
  rest = '';
  private readonly levels: Level[] = [];
  private root: JsonValue | undefined;
  /** The open string, which may be a key. */
  private string: string | undefined;

  /** Cost of a {@link snapshot}, which copies all open arrays and objects: their items, roughly. */
  get cost(): number {
    const costs = this.levels.map(({ container, size }) =>
      Array.isArray(container) ? size : size * PROPERTY_COST,
    );
    return costs.reduce((sum, cost) => sum + cost, 0);
  }

  read(text: string): void {
    const all = this.rest + text;
    let at = 0;
    while (this.status === 'open') {
      const end = this.string === undefined ? this.readToken(all, at) : this.readString(all, at);
      if (end === at) break;
      at = end;
    }
    this.rest = all.slice(at);
  }

  /** The value so far, if it is valid; later reading does not change it. */
  snapshot(): JsonValue | undefined {
    if (this.status === 'invalid') return undefined;
    if (this.root !== undefined) return this.root;
    let value: JsonValue | undefined = this.expectsKey ? undefined : this.string;
    for (let depth = this.levels.length - 1; depth >= 0; depth--) {
      const { container, key } = this.levels[depth] as Level;
      const added: readonly JsonValue[] = value === undefined ? [] : [value];
      value = Array.isArray(container)
        ? container.concat(added)
        : { ...container, ...(value !== undefined && { [key as string]: value }) };
    }
    return value;
  }

  private get expectsKey(): boolean {
    const level = this.levels.at(-1);
    return level !== undefined && level.key === undefined && !Array.isArray(level.container);
  }

  /** Returns the position after the token, or its beginning if it is unfinished. */
  private readToken(text: string, at: number): number {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    const end = TOKEN.lastIndex;
    if (token === undefined) {
      if (at < text.length) this.status = 'invalid';
      return at;
    }
    if (token === '{' || token === '[') this.open(token === '[');
    else if (token === '}' || token === ']') this.close(token === ']');
    else if (token === '"') this.string = '';
    else if (/[-+.\w]/.test(token)) {
      if (end === text.length) return at;
      this.add(parse(token));
    }
    return end;
  }

  private readString(text: string, at: number): number {
    STRING_PART.lastIndex = at;
    STRING_PART.test(text);
    const end = STRING_PART.lastIndex;
    const part = parse(`"${text.slice(at, end)}"`);
    const isClosed = text.charAt(end) === '"';
    if (typeof part !== 'string' || (!isClosed && text.length - end >= LONGEST_ESCAPE)) {
      this.status = 'invalid';
      return end;
    }
    this.string += part;
    if (!isClosed) return end;
    const { string } = this;
    this.string = undefined;
    this.add(string);
    return end + 1;
  }

  private open(isArray: boolean): void {
    if (this.expectsKey || this.levels.length === MAX_DEPTH) this.status = 'invalid';
    this.levels.push({ container: isArray ? [] : {}, key: undefined, size: 0 });
  }

  private close(isArray: boolean): void {
    const level = this.levels.pop();
    this.add(Array.isArray(level?.container) === isArray ? level?.container : undefined);
  }

  /** Adds a value, or a key where one is expected; undefined is invalid. */
  private add(value: JsonValue | undefined): void {
    const level = this.levels.at(-1);
    const isKey = this.expectsKey;
    // whole answers with that key are rejected, too
    if (value === undefined || (isKey && (typeof value !== 'string' || value === '__proto__'))) {
      this.status = 'invalid';
    } else if (!level) {
      this.root = value;
      this.status = 'complete';
    } else if (isKey) {
      level.key = value as string;
    } else {
      this.addTo(level, value);
    }
  }

  private addTo(level: Level, value: JsonValue): void {
    const { container, key } = level;
    level.key = undefined;
    if (Array.isArray(container)) container.push(value);
    else if (value !== null) container[key as string] = value;
    level.size++;
  }
}

/** Number of characters that must be the beginning of JSON; a reader takes seconds for some 10 MB. */
const READ = 20_000;

/** True if a text is the beginning of an array or object, or blank; false for whole ones. */
export function isCutJson(text: string): boolean {
  if (!/^\s*(?:[{[]|$)/.test(text)) return false;
  const reader = new PartialJsonReader();
  reader.read(text.slice(0, READ));
  return reader.status === 'open' && (text.length <= READ || endOfValue(text) === undefined);
}

/** The value of a JSON text; undefined for other texts. */
function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
