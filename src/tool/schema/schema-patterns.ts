import type { JsonSchema } from '../../chat/tool-definition.js';
import { isObject } from './schema-types.js';

const LEFT_OUT: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'format']);
/** Keywords below which a looser schema refuses more; without `if`, `then` and `else` mean nothing. */
const NEGATIVE: ReadonlySet<string> = new Set(['not', 'if', 'contains']);
/** Keywords whose values are data or maps from names to schemas, where a name may look like a keyword. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'dependentRequired']);
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/** A schema without regular expressions and formats. It accepts all that the schema accepts, and more. */
export function withoutPatterns(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema);
  if (!/"(?:pattern|patternProperties|format)":/.test(text)) return JSON.parse(text) as JsonSchema;
  return new PatternRemover(text.includes('"patternProperties":')).remove(schema) as JsonSchema;
}

class PatternRemover {
  /** @param hasNamePatterns whether a pattern may allow properties anywhere, which references can bring in */
  constructor(private readonly hasNamePatterns: boolean) {}

  remove(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.remove(item));
    if (!isObject(schema)) return schema;
    const entries = Object.entries(schema).filter(([keyword]) => this.isKept(keyword, schema));
    return Object.fromEntries(entries.flatMap(([keyword, value]) => loosened(keyword, value, this.inside(keyword, value))));
  }

  private inside(keyword: string, value: unknown): unknown {
    if (DATA.has(keyword)) return value;
    if (!MAPS.has(keyword) || !isObject(value)) return this.remove(value);
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, this.remove(schema)]));
  }

  private isKept(keyword: string, schema: JsonSchema): boolean {
    if (LEFT_OUT.has(keyword)) return false;
    // these would refuse a property which only a pattern allows
    if (keyword === 'unevaluatedProperties') return !this.hasNamePatterns;
    return keyword !== 'additionalProperties' || !('patternProperties' in schema);
  }
}

/** Where a schema must not hold, or only one of several may, a looser schema would make the whole stricter. */
function loosened(keyword: string, before: unknown, after: unknown): [keyword: string, value: unknown][] {
  if (!NEGATIVE.has(keyword) && keyword !== 'oneOf') return [[keyword, after]];
  const text = JSON.stringify(before);
  // what a reference leads to may have become looser as well
  if (text === JSON.stringify(after) && !text.includes('"$ref":')) return [[keyword, after]];
  return keyword === 'oneOf' ? [['anyOf', after]] : [];
}
