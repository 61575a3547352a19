import type { ToolReference } from './tool-index.js';

/** The texts of a tool that say what it does, by their place in its definition. */
export interface ReferenceTexts {
  readonly name: string;
  readonly description: string;
  /** Names of parameters, those of nested objects too. */
  readonly parameterNames: readonly string[];
  readonly parameterDescriptions: readonly string[];
  /** Values that parameters may have. */
  readonly choices: readonly string[];
}

/** Schemas come from others: what is deeper or longer than any tool needs is not read. */
const MAX_DEPTH = 8;
const MAX_TEXTS = 1_000;
const MAX_SCHEMAS = 2_000;

/** Reads the texts of a tool. No plain JSON makes it fail or take long; references within it (`$ref`) are not followed. */
export function referenceTexts({ name, description, inputSchema }: ToolReference): ReferenceTexts {
  const texts = new SchemaTexts();
  texts.read(inputSchema, 0);
  const { parameterNames, parameterDescriptions, choices } = texts;
  return { name, description, parameterNames, parameterDescriptions, choices };
}

class SchemaTexts {
  readonly parameterNames: string[] = [];
  readonly parameterDescriptions: string[] = [];
  readonly choices: string[] = [];
  private count = 0;

  read(schema: unknown, depth: number): void {
    if (depth > MAX_DEPTH || !isObject(schema) || this.count++ > MAX_SCHEMAS) return;
    // the description of the whole schema is mostly the name of a class that it was made from
    if (depth > 0) add(this.parameterDescriptions, schema['description']);
    add(this.choices, schema['const']);
    for (const value of list(schema['enum']).slice(0, MAX_TEXTS)) add(this.choices, value);
    this.readProperties(schema['properties'], depth);
    for (const part of PARTS) for (const one of list(schema[part])) this.read(one, depth + 1);
    for (const name of DEFINITIONS) if (isObject(schema[name])) for (const one of Object.values(schema[name])) this.read(one, depth + 1);
  }

  private readProperties(properties: unknown, depth: number): void {
    if (!isObject(properties)) return;
    for (const [name, schema] of Object.entries(properties)) {
      add(this.parameterNames, name);
      this.read(schema, depth + 1);
    }
  }
}

/** Keywords with schemas that describe the same value, or its items. */
const PARTS = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'];
const DEFINITIONS = ['$defs', 'definitions'];

function add(texts: string[], value: unknown): void {
  if (typeof value === 'string' && value !== '' && texts.length < MAX_TEXTS) texts.push(value);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
