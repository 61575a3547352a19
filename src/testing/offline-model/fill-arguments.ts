import type { JsonSchema } from '../../chat/tool-definition.js';
import type { JsonValue } from '../../internal/json.js';
import { isPlainObject } from '../../internal/options.js';
import { wordsOf, type TextValue } from './text-values.js';

/** The sources of values for arguments. */
export interface ValueSources {
  readonly text: string;
  /** Values that the text names; each is used once. */
  readonly values: readonly TextValue[];
  /** Each result under the name of its tool. */
  readonly results: JsonValue;
}

/** Arguments for all required properties, and for others that the text names. */
export interface FilledArguments {
  readonly args: Readonly<Record<string, unknown>>;
  /** False if an argument is a sample, since no source has a value for it. */
  readonly isComplete: boolean;
}

/** Properties for a text of any words. */
const FREE_TEXT = /quer(?:y|ies)|question|topic|expression|prompt/i;
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

/** Fills the arguments of an object schema. */
export function fillArguments(schema: JsonSchema, sources: ValueSources): FilledArguments {
  const filler = new ArgumentFiller(schema, sources);
  const args = filler.fill(schema);
  return { args, isComplete: filler.isComplete };
}

class ArgumentFiller {
  isComplete = true;
  private readonly unused: Set<TextValue>;

  constructor(
    private readonly root: JsonSchema,
    private readonly sources: ValueSources,
  ) {
    this.unused = new Set(sources.values);
  }

  fill({ properties, required }: JsonSchema, depth = 0): FilledArguments['args'] {
    const schemas = Object.entries(objectOf(properties)).map(
      ([name, property]) => [name, this.resolve(objectOf(property))] as const,
    );
    // first of all properties, since a value next to the name of one is for no other one
    const args = new Map(schemas.map(([name, schema]) => [name, this.namedValue(name, schema)]));
    for (const [name, schema] of schemas)
      if (args.get(name) === undefined && Array.isArray(required) && required.includes(name))
        args.set(name, this.requiredValue(name, schema, depth));
    return Object.fromEntries([...args].filter(([, value]) => value !== undefined));
  }

  /** The schema itself, in place of a reference or a choice that includes null. */
  private resolve(schema: JsonSchema): JsonSchema {
    const { $ref: reference, anyOf, oneOf = anyOf } = schema;
    const path = typeof reference === 'string' ? reference.split('/').slice(1) : undefined;
    const target = path?.reduce((at, key) => objectOf(at[key]), this.root);
    const options = Array.isArray(oneOf) ? oneOf.map(objectOf) : [];
    return { ...target, ...options.find(({ type }) => type !== 'null'), ...schema };
  }

  /** A choice that the text names, or a value next to the name of the property. */
  private namedValue(name: string, schema: JsonSchema): unknown {
    if (Array.isArray(schema['enum']))
      return schema['enum'].find((choice) => mentions(this.sources.text, choice)) as unknown;
    const words = wordsOf(name).filter((word) => word.length > 1);
    return this.take(schema, ({ context }) => context.some((word) => words.includes(word)));
  }

  private requiredValue(name: string, schema: JsonSchema, depth: number): unknown {
    const type = typeOf(schema);
    if (type === 'object') return depth < MAX_DEPTH ? this.fill(schema, depth + 1) : {};
    if (type === 'boolean') return !NEGATION.test(this.sources.text);
    const { default: preset, const: only = preset, enum: choices = [only] } = schema;
    const value: unknown =
      fieldFor(wordsOf(name), type, this.sources.results) ??
      (Array.isArray(choices) ? (choices[0] as unknown) : undefined) ??
      this.nextValue(name, schema);
    this.isComplete &&= value !== undefined;
    return value ?? this.sample(schema);
  }

  private nextValue(name: string, schema: JsonSchema): unknown {
    const type = typeOf(schema);
    if (type === 'array') return this.list(this.resolve(objectOf(schema['items'])));
    if (type === 'string' && FREE_TEXT.test(name))
      return this.take(schema, ({ quoted }) => quoted) ?? this.sources.text;
    return this.take(schema, ({ number }) => type !== 'string' || number === undefined);
  }

  private list(items: JsonSchema): readonly unknown[] | undefined {
    const list: unknown[] = [];
    for (let item; (item = this.take(items)) !== undefined;) list.push(item);
    return list.length > 0 ? list : undefined;
  }

  /** Takes the next value that fits a schema. */
  private take(schema: JsonSchema, accepts: (value: TextValue) => boolean = () => true): unknown {
    for (const value of this.unused) {
      const converted = accepts(value) ? convert(value, schema) : undefined;
      if (converted === undefined) continue;
      this.unused.delete(value);
      return converted;
    }
    return undefined;
  }

  /** A plain value of the type of a schema. */
  private sample({ minimum, format, ...schema }: JsonSchema): unknown {
    const type = typeOf(schema);
    if (type === 'array') return [];
    if (type === 'null') return null;
    if (type === 'string') return FORMATS[String(format)]?.[1] ?? this.sources.text;
    return typeof minimum === 'number' ? Math.max(1, minimum) : 1;
  }
}

function typeOf({ type, properties, items }: JsonSchema): unknown {
  const named = [type].flat().find((each) => each !== 'null') ?? type;
  return named ?? (properties ? 'object' : items ? 'array' : 'string');
}

/** A value of the text in the type and the format of a schema. */
function convert({ text, number }: TextValue, schema: JsonSchema): unknown {
  const type = typeOf(schema);
  if (type === 'string')
    return (FORMATS[String(schema['format'])]?.[0].test(text) ?? true) ? text : undefined;
  if (type === 'integer') return Number.isInteger(number) ? number : undefined;
  return type === 'number' ? number : undefined;
}

/**
 * The first field of a result that a property is named after: each word of the name is in the key
 * of the field or above it, as in `flight_price` for the field `price` of `find_flight`.
 */
function fieldFor(
  words: readonly string[],
  type: unknown,
  data: JsonValue,
  above: readonly string[] = [],
): unknown {
  if (typeof data !== 'object' || data === null) return undefined;
  for (const [name, value] of Object.entries(data)) {
    const key = wordsOf(name);
    const path = [...above, ...key];
    const isNamed =
      words.some((word) => key.includes(word)) && words.every((word) => path.includes(word));
    const field = isNamed && isOfType(value, type) ? value : fieldFor(words, type, value, path);
    if (field !== undefined) return field;
  }
  return undefined;
}

function isOfType(value: JsonValue, type: unknown): boolean {
  if (Array.isArray(value)) return type === 'array';
  return type === 'integer' ? Number.isInteger(value) : value !== null && typeof value === type;
}

/** Returns true if a text contains the words of a choice. */
function mentions(text: string, choice: unknown): boolean {
  return ` ${wordsOf(text).join(' ')} `.includes(` ${wordsOf(String(choice)).join(' ')} `);
}

function objectOf(value: unknown): JsonSchema {
  return isPlainObject(value) ? value : {};
}
