import { describe } from '../../internal/text.js';
import { isPlainObject } from '../../internal/options.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { decodeReference, freeName, keysOf, listOf, valueAt } from '../json-pointer.js';
import type { Draft, SchemaContext } from './schema-context.js';
import { changedTo } from './value-keywords.js';

/** Maximum number of schemas for one value: repeated references multiply the time of a check. */
const MAX_STEPS = 10_000;
/** Maximum length of a chain of references. */
const MAX_CHAIN = 200;
const LONG_CHAIN = `it refers to a schema that refers to another, and so on, more than ${MAX_CHAIN} times`;

/** Cost of checking one value. */
interface Effort {
  readonly steps: number;
  readonly depth: number;
}

interface KnownSchema {
  readonly schema: unknown;
  readonly context: SchemaContext;
}

type Normalize = (value: unknown, context: SchemaContext) => JsonSchema | boolean;

/** Makes all references of a schema start at its root (`#/…`); rejects dangling and circular ones. */
export class SchemaReferences {
  /** Normalized schemas by path in the given document. */
  private readonly schemas = new Map<string, KnownSchema>();
  /** Paths by id, and by anchor with `#`. */
  private readonly named = new Map([['', '#']]);
  private readonly found: (readonly [holder: Draft, reference: unknown, at: SchemaContext])[] = [];
  /** Schemas by the schema that refers to them. */
  private readonly referred = new Map<unknown, unknown>();
  private readonly efforts = new Map<unknown, Effort>();

  constructor(
    private readonly document: unknown,
    private readonly root: SchemaContext,
  ) {}

  addSchema(schema: unknown, context: SchemaContext): void {
    this.schemas.set(context.path, { schema, context });
  }

  /** Adds a schema with its names. */
  addObject(source: JsonSchema, draft: Draft, context: SchemaContext): void {
    this.addSchema(draft, context);
    for (const id of [source['$id'], source['id']])
      if (typeof id === 'string' && !/^#?$/.test(id))
        this.named.set(id.replace(/#$/, ''), context.path);
    for (const anchor of [source['$anchor'], source['$dynamicAnchor']])
      if (typeof anchor === 'string') this.named.set(`#${anchor}`, context.path);
  }

  addReference(holder: Draft, reference: unknown, context: SchemaContext): void {
    this.found.push([holder, reference, context]);
  }

  /** @param normalize normalizes a schema found outside of the keywords that contain schemas */
  resolve(draft: Draft, normalize: Normalize): void {
    if (this.found.length === 0) return;
    // schemas that are adopted here may add references to the list
    for (const [holder, reference, context] of this.found) {
      const path = this.locate(reference) ?? this.guess(reference, context);
      const { schema, context: target } =
        this.schemas.get(path) ?? this.adopt(path, draft, normalize);
      const resolved = encodedReference(target.target, context);
      if (resolved !== reference)
        context.warning(`it refers to ${describe(reference)}`, changedTo(resolved));
      holder['$ref'] = resolved;
      this.referred.set(holder, schema);
    }
    for (const { schema } of this.schemas.values()) this.measureEffort(schema, []);
  }

  /** Finds the path of the schema that a reference leads to. */
  private locate(reference: unknown): string | undefined {
    if (typeof reference !== 'string') return undefined;
    const [id = '', fragment = ''] = reference.split('#', 2);
    if (!fragment.startsWith('/')) return this.named.get(reference.replace(/#$/, ''));
    const start = this.named.get(id);
    const path = start === undefined ? undefined : `${start}${decodeReference(fragment)}`;
    return path !== undefined && this.hasSchemaAt(path) ? path : undefined;
  }

  private hasSchemaAt(path: string): boolean {
    const value = valueAt(this.document, path);
    return typeof value === 'boolean' || isPlainObject(value);
  }

  /** Finds the definition with the name at the end of a reference whose other part is wrong. */
  private guess(reference: unknown, context: SchemaContext): string {
    const name = DEFINITION_NAME.exec(typeof reference === 'string' ? reference : '')?.[1];
    const path = DEFINITIONS.map((place) => `${place}/${decodeReference(name ?? '')}`).find(
      (place) => this.hasSchemaAt(place),
    );
    if (name === undefined || path === undefined)
      return context.reject(
        `it refers to ${describe(reference)}, and there is no such schema here; schemas from elsewhere are not fetched`,
      );
    context.error(`there is nothing at ${describe(reference)}`, `used ${path}`);
    return path;
  }

  /** Adds a schema found elsewhere to the definitions. */
  private adopt(path: string, draft: Draft, normalize: Normalize): KnownSchema {
    const definitions = (draft['$defs'] ??= {}) as Draft;
    const name = freeName(keysOf(path).at(-1) ?? '', definitions);
    definitions[name] = true; // reserves the name
    const { target } = this.root.child('$defs').child(name);
    const context = this.root.at(path, target, true);
    const schema = normalize(valueAt(this.document, path), context);
    definitions[name] = schema;
    return { schema, context };
  }

  /** Rejects a schema that refers to itself for the same value, or that takes too long to check. */
  private measureEffort(schema: unknown, chain: readonly unknown[]): Effort {
    if (typeof schema !== 'object' || schema === null) return { steps: 1, depth: 1 };
    const known = this.efforts.get(schema);
    if (known) return known;
    if (chain.includes(schema)) this.rejectSchema(schema, 'it refers to itself without end');
    if (chain.length > MAX_CHAIN) this.rejectSchema(schema, LONG_CHAIN);
    const inner = [this.referred.get(schema), ...schemasOfSameValue(schema as Draft)].map((part) =>
      this.measureEffort(part, [...chain, schema]),
    );
    const steps = inner.reduce((sum, part) => sum + part.steps, 1);
    const depth = 1 + Math.max(...inner.map((part) => part.depth));
    if (depth > MAX_CHAIN) this.rejectSchema(schema, LONG_CHAIN);
    if (steps > MAX_STEPS)
      this.rejectSchema(schema, `it applies more than ${MAX_STEPS} schemas to one value`);
    this.efforts.set(schema, { steps, depth });
    return { steps, depth };
  }

  private rejectSchema(schema: unknown, problem: string): never {
    const known = [...this.schemas.values()].find((each) => each.schema === schema);
    return (known?.context ?? this.root).reject(problem);
  }
}

const DEFINITIONS = ['#/$defs', '#/definitions', '#/components/schemas'];
const DEFINITION_NAME = /^(?:#\/(?:\$defs|definitions|components\/schemas)\/)?([^/#:]+)$/;

function schemasOfSameValue(schema: Draft): readonly unknown[] {
  const { allOf, anyOf, oneOf, not, if: condition, then, else: otherwise } = schema;
  const lists = [allOf, anyOf, oneOf].flatMap(listOf);
  const dependent = Object.values((schema['dependentSchemas'] ?? {}) as JsonSchema);
  return [...lists, not, condition, then, otherwise, ...dependent];
}

function encodedReference(pointer: string, context: SchemaContext): string {
  try {
    return `#${encodeURI(pointer.slice(1)).replaceAll('#', '%23')}`;
  } catch (error) {
    return context.reject('it refers to a name with half a surrogate pair', error);
  }
}
