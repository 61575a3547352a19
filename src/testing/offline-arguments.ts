import type { JsonSchema } from '../core/chat/tool-definition.js';
import type { JsonValue } from '../core/internal/json.js';
import { isPlainObject } from '../core/internal/options.js';
import { listOf, valueAt } from '../core/json-schema/json-pointer.js';
import { hasType } from '../core/json-schema/normalize/type-names.js';

/** A quoted text, a name of capitalised words inside a sentence, or characters without spaces. */
const TOKEN =
  /"(?<quoted>[^"]+)"|(?<name>(?<!(?:^|[.!?\n])\s*)\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*(?![\p{L}\p{N}@/_-]))|[^\s"]+/gu;
const EDGES = /^[^\p{L}\p{N}$€£/~.-]+|['’]s$|[^\p{L}\p{N}%]+$/gu;
const NUMBER = /^[$€£]?(-?\d+(?:,\d{3})*(?:\.\d+)?)%?$/;
/** Email addresses, URLs, paths, dates and numbered codes. */
const CODE = /\d|\S[@/._:]\S/;
const QUOTED = /"([^"]+)"/;
/** Properties for the quoted text of the question, or for the whole question. */
const FREE_TEXT = /quer(?:y|ies)|question|topic|expression|prompt/i;
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

/** Arguments of a tool. */
export interface FilledArguments {
  readonly args: Readonly<Record<string, unknown>>;
  /** False if an argument is a sample, since no source has a value for it. */
  readonly isComplete: boolean;
}

/** Values for arguments: of the question, each used once in order, and of results. */
export class ArgumentSource {
  private unused: readonly (string | number)[];
  private readonly fields: readonly Field[];
  private isComplete = true;

  /** @param results results of earlier calls, each under the name of its tool */
  constructor(
    private readonly question: string,
    results: JsonValue,
  ) {
    this.unused = valuesIn(question);
    this.fields = fieldsOf(results);
  }

  /** Fills the required properties of an object schema. */
  fill(schema: JsonSchema): FilledArguments {
    const { unused } = this;
    this.isComplete = true;
    const args = this.objectFor(schema, schema, 0);
    if (!this.isComplete) this.unused = unused;
    return { args, isComplete: this.isComplete };
  }

  private objectFor(schema: JsonSchema, root: JsonSchema, depth: number): FilledArguments['args'] {
    const required = listOf(schema['required']).map(String);
    const properties = objectOf(schema['properties']);
    const names = required.filter((name) => Object.hasOwn(properties, name));
    return Object.fromEntries(
      names.map((name) => [
        name,
        this.valueFor(name, resolve(properties[name], root), root, depth),
      ]),
    );
  }

  private valueFor(name: string, schema: JsonSchema, root: JsonSchema, depth: number): unknown {
    const { type, items, format, minimum, default: preset, const: only = preset } = schema;
    if (type === 'object') return depth < MAX_DEPTH ? this.objectFor(schema, root, depth + 1) : {};
    if (type === 'boolean') return true;
    const value =
      this.choiceFor(listOf(schema['enum'])) ??
      this.fieldFor(name, type) ??
      only ??
      (type === 'array' ? this.listFor(resolve(items, root)) : this.textOrNumberFor(name, schema));
    if (value !== undefined) return value;
    this.isComplete = false;
    if (type === 'array') return [];
    if (type === 'string') return FORMATS[String(format)]?.[1] ?? this.question;
    return typeof minimum === 'number' ? Math.max(1, minimum) : 1;
  }

  /** The choice that the question names, else the first one. */
  private choiceFor(choices: readonly unknown[]): unknown {
    const question = phraseOf(this.question);
    return choices.find((choice) => question.includes(phraseOf(String(choice)))) ?? choices[0];
  }

  /** The first field of a result with this name, as `flight_price` for `price` of `find_flight`. */
  private fieldFor(name: string, type: unknown): unknown {
    const words = wordsOf(name);
    const isNamed = ({ path, value }: Field): boolean =>
      hasType(value, type) &&
      path.at(-1) === words.at(-1) &&
      words.every((word) => path.includes(word));
    return this.fields.find(isNamed)?.value;
  }

  private textOrNumberFor(name: string, schema: JsonSchema): unknown {
    const isFree = schema['type'] === 'string' && FREE_TEXT.test(name);
    return isFree ? (QUOTED.exec(this.question)?.[1] ?? this.question) : this.take(schema);
  }

  private listFor(items: JsonSchema): readonly unknown[] | undefined {
    const list: unknown[] = [];
    for (let item; (item = this.take(items)) !== undefined;) list.push(item);
    return list.length > 0 ? list : undefined;
  }

  /** Takes the next value of the question that fits a schema. */
  private take({ type, format }: JsonSchema): unknown {
    const pattern = FORMATS[String(format)]?.[0];
    const fits = (value: string | number): boolean =>
      hasType(value, type) && pattern?.test(String(value)) !== false;
    const found = this.unused.find(fits);
    this.unused = this.unused.filter((_value, at) => at !== this.unused.findIndex(fits));
    return found;
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

/** A schema with one type, in place of a reference or a choice that includes null. */
function resolve(schema: unknown, root: JsonSchema): JsonSchema {
  const { $ref: reference, anyOf, oneOf = anyOf } = objectOf(schema);
  const target = typeof reference === 'string' ? valueAt(root, reference) : undefined;
  const option = listOf(oneOf).find((each) => objectOf(each)['type'] !== 'null');
  const { type, ...rest } = { ...objectOf(target), ...objectOf(option), ...objectOf(schema) };
  const implied = rest['properties'] ? 'object' : rest['items'] ? 'array' : 'string';
  return { ...rest, type: [type].flat().find((each) => each !== 'null') ?? type ?? implied };
}

function objectOf(value: unknown): JsonSchema {
  return isPlainObject(value) ? value : {};
}

/** The quoted texts, names, numbers and codes of a text, in their order. */
function valuesIn(text: string): readonly (string | number)[] {
  return [...text.matchAll(TOKEN)].flatMap<string | number>(({ 0: token, groups = {} }) => {
    const { quoted, name } = groups;
    const word = quoted ?? token.replaceAll(EDGES, '');
    const digits = quoted === undefined ? NUMBER.exec(word)?.[1] : undefined;
    if (digits !== undefined) return [Number(digits.replaceAll(',', ''))];
    return quoted !== undefined || name !== undefined || CODE.test(word) ? [word] : [];
  });
}

/** The words of a text, to find whole words in it. */
function phraseOf(text: string): string {
  return ` ${wordsOf(text).join(' ')} `;
}

/** The words of a text or of a name, in lower case and without a plural s. */
export function wordsOf(text: string): readonly string[] {
  const spaced = text.replaceAll(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ').toLowerCase();
  const words = spaced.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word));
}
