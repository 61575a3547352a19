import type { JsonSchema } from '../../chat/tool-definition.js';
import type { JsonValue } from '../../internal/json.js';
import { isPlainObject } from '../../internal/options.js';
import { listOf, valueAt } from '../../json-schema/json-pointer.js';
import { hasType } from '../../json-schema/normalize/type-names.js';

/** A value named in a text. */
interface TextValue {
  readonly text: string;
  readonly quoted: boolean;
  /** The value as a number, where it is one. */
  readonly number: number | undefined;
  /** Words between the previous value and this one; for a number also the word that follows. */
  readonly context: readonly string[];
}

/** A quoted text, a name of capitalised words inside a sentence, or characters without spaces. */
const TOKEN =
  /"(?<quoted>[^"]+)"|(?<name>(?<!(?:^|[.!?\n])\s*)\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*(?![\p{L}\p{N}@/_-]))|[^\s"]+/gu;
const EDGES = /^[^\p{L}\p{N}$€£/~.-]+|['’]s$|[^\p{L}\p{N}%]+$/gu;
const NUMBER = /^[$€£]?(-?\d+(?:,\d{3})*(?:\.\d+)?)%?$/;
/** Email addresses, URLs, paths, dates and numbered codes. */
const CODE = /\d|\S[@/._:]\S/;

/** Properties for a text of any words. */
const FREE_TEXT = /quer(?:y|ies)|question|topic|expression|prompt/i;
const LEADING_SEPARATOR = /^[\s.,;!?]+(?:(?:and|then)\s+)?/i;
const NEGATION = /\b(?:not?|off|never|without)\b/i;
/** Pattern and sample of each format. */
const FORMATS: Readonly<Record<string, readonly [pattern: RegExp, sample: string]>> = {
  email: [/^[^\s@]+@[^\s@]+$/, 'user@example.org'],
  uri: [/^[a-z][a-z\d+.-]*:\S+$/i, 'https://example.org'],
  date: [/^\d{4}-\d\d-\d\d$/, '2026-01-01'],
  time: [/^\d\d?:\d\d/, '12:00:00Z'],
  'date-time': [/^\d{4}-\d\d-\d\d[T ]\d/, '2026-01-01T12:00:00Z'],
};
/** Limit for schemas that refer to themselves. */
const MAX_DEPTH = 3;

/** Arguments for all required properties of an object schema, and for others that a text names. */
export class FilledArguments {
  readonly args: Readonly<Record<string, unknown>>;
  /** False if an argument is a sample, since no source has a value for it. */
  isComplete = true;
  private readonly text: string;
  private readonly unused: Set<TextValue>;
  private readonly fields: readonly Field[];

  /** @param results results of earlier calls, each under the name of its tool */
  constructor(
    private readonly schema: JsonSchema,
    part: string,
    results: JsonValue,
  ) {
    this.text = part.replace(LEADING_SEPARATOR, '');
    this.unused = new Set(valuesIn(part));
    this.fields = fieldsOf(results);
    this.args = this.fill(schema);
  }

  private fill({ properties, required }: JsonSchema, depth = 0): Readonly<Record<string, unknown>> {
    // first of all properties, since a value next to the name of one is for no other one
    const named = Object.entries(objectOf(properties)).map(([name, property]) => {
      const schema = this.resolve(property);
      return { name, schema, value: this.namedValue(name, schema) };
    });
    const args = named.map(({ name, schema, value }) => {
      const isMissing = value === undefined && listOf(required).includes(name);
      return [name, isMissing ? this.requiredValue(name, schema, depth) : value] as const;
    });
    return Object.fromEntries(args.filter(([, value]) => value !== undefined));
  }

  /** The schema with one type, in place of a reference or a choice that includes null. */
  private resolve(schema: unknown): JsonSchema {
    const { $ref: reference, anyOf, oneOf = anyOf } = objectOf(schema);
    const target = typeof reference === 'string' ? valueAt(this.schema, reference) : undefined;
    const option = listOf(oneOf).find((each) => objectOf(each)['type'] !== 'null');
    const { type, ...rest } = { ...objectOf(target), ...objectOf(option), ...objectOf(schema) };
    const implied = rest['properties'] ? 'object' : rest['items'] ? 'array' : 'string';
    return { ...rest, type: [type].flat().find((each) => each !== 'null') ?? type ?? implied };
  }

  /** A choice that the text names, or a value next to the name of the property. */
  private namedValue(name: string, schema: JsonSchema): unknown {
    const { enum: choices } = schema;
    if (Array.isArray(choices)) {
      const text = phraseOf(this.text);
      return choices.find((choice) => text.includes(phraseOf(String(choice))));
    }
    const words = wordsOf(name).filter((word) => word.length > 1);
    return this.take(schema, ({ context }) => context.some((word) => words.includes(word)));
  }

  private requiredValue(name: string, schema: JsonSchema, depth: number): unknown {
    const { type, default: preset, const: only = preset, enum: choices = [only] } = schema;
    if (type === 'object') return depth < MAX_DEPTH ? this.fill(schema, depth + 1) : {};
    if (type === 'boolean') return !NEGATION.test(this.text);
    const value = this.field(name, type) ?? listOf(choices)[0] ?? this.nextValue(name, schema);
    this.isComplete &&= value !== undefined;
    return value ?? this.sample(schema);
  }

  /** The first field of a result with this name, as `flight_price` for `price` of `find_flight`. */
  private field(name: string, type: unknown): unknown {
    const words = wordsOf(name);
    const isNamed = ({ path, value }: Field): boolean =>
      hasType(value, type) &&
      path.at(-1) === words.at(-1) &&
      words.every((word) => path.includes(word));
    return this.fields.find(isNamed)?.value;
  }

  private nextValue(name: string, schema: JsonSchema): unknown {
    const { type, items } = schema;
    if (type === 'array') return this.list(this.resolve(items));
    if (type === 'string' && FREE_TEXT.test(name))
      return this.take(schema, ({ quoted }) => quoted) ?? this.text;
    return this.take(schema, ({ number }) => type !== 'string' || number === undefined);
  }

  private list(items: JsonSchema): readonly unknown[] | undefined {
    const list: unknown[] = [];
    for (let item; (item = this.take(items)) !== undefined;) list.push(item);
    return list.length > 0 ? list : undefined;
  }

  /** Takes the next value that fits a schema. */
  private take(schema: JsonSchema, accepts: (value: TextValue) => boolean = () => true): unknown {
    const { type, format } = schema;
    const pattern = FORMATS[String(format)]?.[0];
    for (const value of this.unused) {
      const { text, number } = value;
      const converted = type === 'string' ? text : number;
      if (!hasType(converted, type) || pattern?.test(text) === false || !accepts(value)) continue;
      this.unused.delete(value);
      return converted;
    }
    return undefined;
  }

  /** A plain value of the type of a schema. */
  private sample({ type, minimum, format }: JsonSchema): unknown {
    if (type === 'array') return [];
    if (type === 'string') return FORMATS[String(format)]?.[1] ?? this.text;
    return typeof minimum === 'number' ? Math.max(1, minimum) : 1;
  }
}

/** A field of a result, with the words of the keys above it and of its own key. */
interface Field {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

function fieldsOf(data: JsonValue, above: readonly string[] = []): readonly Field[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries(data).flatMap(([name, value]) => {
    const path = [...above, ...wordsOf(name)];
    return [{ path, value }, ...fieldsOf(value, path)];
  });
}

/** The words of a text, to find whole words in it. */
function phraseOf(text: string): string {
  return ` ${wordsOf(text).join(' ')} `;
}

function objectOf(value: unknown): JsonSchema {
  return isPlainObject(value) ? value : {};
}

/** The values named in a text, in order: quoted texts, names, numbers and codes. */
export function valuesIn(text: string): readonly TextValue[] {
  const values: TextValue[] = [];
  let previousEnd = 0;
  for (const { 0: token, index: start, groups = {} } of text.matchAll(TOKEN)) {
    const { quoted, name } = groups;
    const word = quoted ?? token.replaceAll(EDGES, '');
    if (quoted === undefined && name === undefined && !CODE.test(word)) continue;
    const end = start + token.length;
    const digits = quoted === undefined ? NUMBER.exec(word)?.[1] : undefined;
    const unit = digits === undefined ? [] : wordsOf(text.slice(end, end + 30)).slice(0, 1);
    const context = [...wordsOf(text.slice(previousEnd, start)), ...unit];
    const number = digits === undefined ? undefined : Number(digits.replaceAll(',', ''));
    values.push({ text: word, quoted: quoted !== undefined, number, context });
    previousEnd = end;
  }
  return values;
}

/** A name such as `flight_price` or `flightPrice` in words. */
export function inWords(name: string): string {
  const spaced = name.replaceAll(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ').replaceAll(/[_.-]+/g, ' ');
  return spaced.trim().replaceAll(/\p{Lu}\p{Ll}+/gu, (word) => word.toLowerCase());
}

/** The words of a text or of a name, in lower case and without a plural s. */
export function wordsOf(text: string): readonly string[] {
  const lower = inWords(text).toLowerCase();
  const words = lower.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word));
}
