import { isPlainObject } from '../../core/internal/options.js';

// Schemas come from third parties: deeper or longer parts than any tool needs are skipped.
const MAX_DEPTH = 8;
const MAX_TEXTS = 1_000;
const MAX_SCHEMAS = 2_000;

/** Keywords with schemas of the same value, or of its items. */
const SUBSCHEMAS = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'];
const DEFINITIONS = ['$defs', 'definitions'];

/** The texts of a schema, read in bounded time from any JSON; ignores `$ref`. */
export class SchemaTexts {
  /** Names of parameters, nested objects included. */
  readonly parameterNames: string[] = [];
  readonly parameterDescriptions: string[] = [];
  /** Values of `enum` and `const`. */
  readonly choices: string[] = [];
  private schemaCount = 0;

  constructor(schema: unknown) {
    this.read(schema, 0);
  }

  private read(schema: unknown, depth: number): void {
    if (depth > MAX_DEPTH || !isPlainObject(schema) || this.schemaCount++ > MAX_SCHEMAS) return;
    // the description of the root is mostly the name of the class that the schema comes from
    if (depth > 0) addText(this.parameterDescriptions, schema['description']);
    addText(this.choices, schema['const']);
    for (const value of toArray(schema['enum']).slice(0, MAX_TEXTS)) addText(this.choices, value);
    for (const [name, part] of entriesOf(schema['properties'])) {
      addText(this.parameterNames, name);
      this.read(part, depth + 1);
    }
    for (const keyword of SUBSCHEMAS)
      for (const part of toArray(schema[keyword])) this.read(part, depth + 1);
    for (const keyword of DEFINITIONS)
      for (const [, part] of entriesOf(schema[keyword])) this.read(part, depth + 1);
  }
}

function addText(texts: string[], value: unknown): void {
  if (typeof value === 'string' && value !== '' && texts.length < MAX_TEXTS) texts.push(value);
}

function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isPlainObject(value) ? Object.entries(value) : [];
}
