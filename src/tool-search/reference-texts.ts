import { isPlainObject } from '../internal/options.js';
import type { ToolReference } from './tool-index.js';

/** The texts of a tool that describe it, by their place in its definition. */
export interface ReferenceTexts {
  readonly name: string;
  readonly description: string;
  /** Names of parameters, including those of nested objects. */
  readonly parameterNames: readonly string[];
  readonly parameterDescriptions: readonly string[];
  /** Values of `enum` and `const`. */
  readonly choices: readonly string[];
}

// Schemas come from third parties: deeper or longer parts than any tool needs are skipped.
const MAX_DEPTH = 8;
const MAX_TEXTS = 1_000;
const MAX_SCHEMAS = 2_000;

/** Keywords with schemas of the same value, or of its items. */
const SUBSCHEMAS = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'];
const DEFINITIONS = ['$defs', 'definitions'];

/** Reads the texts of a tool in bounded time; accepts any JSON as schema and ignores `$ref`. */
export function referenceTexts({ name, description, inputSchema }: ToolReference): ReferenceTexts {
  const texts = new SchemaTexts();
  texts.readSchema(inputSchema, 0);
  const { parameterNames, parameterDescriptions, choices } = texts;
  return { name, description, parameterNames, parameterDescriptions, choices };
}

class SchemaTexts {
  readonly parameterNames: string[] = [];
  readonly parameterDescriptions: string[] = [];
  readonly choices: string[] = [];
  private schemaCount = 0;

  readSchema(schema: unknown, depth: number): void {
    if (depth > MAX_DEPTH || !isPlainObject(schema) || this.schemaCount++ > MAX_SCHEMAS) return;
    // the description of the root is mostly the name of the class that the schema comes from
    if (depth > 0) addText(this.parameterDescriptions, schema['description']);
    addText(this.choices, schema['const']);
    for (const value of toArray(schema['enum']).slice(0, MAX_TEXTS)) addText(this.choices, value);
    this.readProperties(schema['properties'], depth);
    for (const keyword of SUBSCHEMAS)
      for (const part of toArray(schema[keyword])) this.readSchema(part, depth + 1);
    for (const keyword of DEFINITIONS)
      for (const part of valuesOf(schema[keyword])) this.readSchema(part, depth + 1);
  }

  private readProperties(properties: unknown, depth: number): void {
    if (!isPlainObject(properties)) return;
    for (const [name, schema] of Object.entries(properties)) {
      addText(this.parameterNames, name);
      this.readSchema(schema, depth + 1);
    }
  }
}

function addText(texts: string[], value: unknown): void {
  if (typeof value === 'string' && value !== '' && texts.length < MAX_TEXTS) texts.push(value);
}

function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function valuesOf(value: unknown): readonly unknown[] {
  return isPlainObject(value) ? Object.values(value) : [];
}
