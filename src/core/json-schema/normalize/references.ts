import type { JsonSchema } from '../../chat/tool-definition.js';
import { isPlainObject } from '../../internal/options.js';
import { describe } from '../../errors/describe.js';
import { decodeReference, listOf } from '../json-pointer.js';
import type { Draft, SchemaContext } from './schema-context.js';
import { changedTo } from './value-keywords.js';

/** Maximum number of schemas for one value: repeated references multiply the time of a check. */
const MAX_STEPS = 10_000;
/** Maximum length of a chain of references. */
const MAX_CHAIN = 200;

interface KnownSchema {
  readonly schema: JsonSchema | boolean;
  readonly context: SchemaContext;
}

/** Makes all references of a schema start at its root (`#/…`); rejects dangling and circular ones. */
export class SchemaReferences {
  /** Normalized schemas by path, id and anchor (with `#`) in the given document. */
  private readonly schemas = new Map<string, KnownSchema>();
  private readonly found: (readonly [holder: Draft, reference: unknown, at: SchemaContext])[] = [];
  /** Schemas by the schema that refers to them. */
  private readonly referred = new Map<unknown, unknown>();
  private readonly steps = new Map<unknown, number>();

  addSchema(schema: JsonSchema | boolean, source: JsonSchema, context: SchemaContext): void {
    const names = [source['$id'], source['id'], anchor(source['$anchor'])];
    for (const name of [context.path, ...names, anchor(source['$dynamicAnchor'])])
      if (typeof name === 'string') this.schemas.set(name, { schema, context });
  }

  addReference(holder: Draft, reference: unknown, context: SchemaContext): void {
    this.found.push([holder, reference, context]);
  }

  /** Resolves the references when all schemas are known. */
  resolve(): void {
    if (this.found.length === 0) return;
    for (const [holder, reference, context] of this.found) {
      const known = typeof reference === 'string' ? this.find(reference) : undefined;
      if (!known)
        return context.reject(
          `it refers to ${describe(reference)}, and there is no such schema here; schemas from elsewhere are not fetched`,
        );
      const resolved = encodedReference(known.context.target, context);
      if (resolved !== reference)
        context.warning(`it refers to ${describe(reference)}`, changedTo(resolved));
      holder['$ref'] = resolved;
      this.referred.set(holder, known.schema);
    }
    for (const { schema, context } of this.schemas.values()) this.countSteps(schema, context, []);
  }

  private find(reference: string): KnownSchema | undefined {
    const [id = '', fragment = ''] = reference.split('#', 2);
    if (fragment !== '' && !fragment.startsWith('/')) return this.schemas.get(`#${fragment}`);
    const start = this.schemas.get(id || '#') ?? this.schemas.get(`${id}#`);
    return start && this.schemas.get(start.context.path + decodeReference(fragment));
  }

  /** Counts the schemas for one value; rejects too many, and a schema that refers to itself for it. */
  private countSteps(schema: unknown, at: SchemaContext, chain: readonly unknown[]): number {
    if (!isPlainObject(schema)) return 1;
    const known = this.steps.get(schema);
    if (known !== undefined) return known;
    if (chain.includes(schema)) at.reject('it refers to itself without end');
    if (chain.length > MAX_CHAIN)
      at.reject(`it refers to a schema that refers to another, more than ${MAX_CHAIN} times`);
    const parts = [this.referred.get(schema), ...schemasOfSameValue(schema)];
    const counts = parts.map((part) => this.countSteps(part, at, [...chain, schema]));
    const steps = counts.reduce((sum, count) => sum + count, 1);
    if (steps > MAX_STEPS) at.reject(`it applies more than ${MAX_STEPS} schemas to one value`);
    this.steps.set(schema, steps);
    return steps;
  }
}

function anchor(name: unknown): string | undefined {
  return typeof name === 'string' ? `#${name}` : undefined;
}

function schemasOfSameValue(schema: JsonSchema): readonly unknown[] {
  const { allOf, anyOf, oneOf, not, if: condition, then, else: otherwise } = schema;
  const dependent = Object.values((schema['dependentSchemas'] ?? {}) as JsonSchema);
  return [...[allOf, anyOf, oneOf].flatMap(listOf), not, condition, then, otherwise, ...dependent];
}

function encodedReference(pointer: string, context: SchemaContext): string {
  try {
    return `#${encodeURI(pointer.slice(1)).replaceAll('#', '%23')}`;
  } catch (error) {
    return context.reject('it refers to a name with half a surrogate pair', error);
  }
}
