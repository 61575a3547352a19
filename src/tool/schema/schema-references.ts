import { describe } from '../../chat/message.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { childPath, decodedPointer, valueAt, type SchemaChanges } from './schema-changes.js';

/** Where a schema is. */
export interface SchemaPlace {
  /** Its path in the schema as it was given. */
  readonly from: string;
  /** Its path in the mended schema. */
  readonly to: string;
  /** URI that references are relative to. */
  readonly base: string;
  /** Whether it is applied together with others to a value, so that it need not say everything. */
  readonly isPart: boolean;
}

/** A mended schema while it is made. */
export type Draft = { [keyword: string]: unknown };

/** Base of a schema without an id. */
export const NO_BASE = 'schema:///';

/** More schemas for one value are refused: definitions that refer to others again and again take for ever to check. */
const MAX_STEPS = 10_000;
/** So are longer chains of references. */
const MAX_CHAIN = 200;
const LONG_CHAIN = `it refers to a schema that refers to another, and so on, more than ${MAX_CHAIN} times`;

/** Makes all references of a schema lead from its root (`#/…`), and refuses those that lead nowhere or in a circle. */
export class SchemaReferences {
  private readonly places = new Map<string, { readonly to: string; readonly schema: unknown }>();
  /** Paths by URI: of schemas with an id, and of anchors. */
  private readonly named = new Map<string, string>([[NO_BASE, '#']]);
  private readonly found: { readonly holder: Draft; readonly reference: unknown; readonly path: string; readonly base: string }[] = [];
  private readonly targets = new Map<unknown, unknown>();
  private readonly paths = new Map<unknown, string>();

  constructor(
    private readonly document: unknown,
    private readonly changes: SchemaChanges,
  ) {}

  /** Notes a schema and the names it has; gives the place with the base of what is inside. */
  enter(source: JsonSchema, draft: Draft, place: SchemaPlace): SchemaPlace {
    this.places.set(place.from, { to: place.to, schema: draft });
    this.paths.set(draft, place.from);
    const id = source['$id'] ?? source['id'];
    const uri = typeof id === 'string' ? absolute(id, place.base) : undefined;
    if (uri !== undefined) this.named.set(withoutEmptyFragment(uri), place.from);
    const base = uri === undefined || uri.includes('#') ? place.base : uri;
    for (const name of [source['$anchor'], source['$dynamicAnchor']])
      if (typeof name === 'string') this.named.set(`${base}#${name}`, place.from);
    return base === place.base ? place : { ...place, base };
  }

  /** Notes a schema that is true or false. */
  enterBoolean(schema: boolean, place: SchemaPlace): void {
    this.places.set(place.from, { to: place.to, schema });
  }

  add(holder: Draft, reference: unknown, path: string, base: string): void {
    this.found.push({ holder, reference, path, base });
  }

  /** How many references were noted. */
  get count(): number {
    return this.found.length;
  }

  /** @param mend makes a schema of something that is none yet because it is not where schemas are */
  resolve(root: Draft, mend: (value: unknown, place: SchemaPlace) => unknown): void {
    for (let at = 0; at < this.found.length; at++) {
      const { holder, reference, path, base } = this.found[at] as (typeof this.found)[number];
      const from = this.locate(reference, base) ?? this.guess(reference, path);
      if (!this.places.has(from)) this.adopt(from, root, mend);
      const { to, schema } = this.places.get(from) as { readonly to: string; readonly schema: unknown };
      holder['$ref'] = encoded(to, path, this.changes);
      if (holder['$ref'] !== reference)
        this.changes.advice(path, `it refers to ${describe(reference)}`, `it is ${describe(holder['$ref'])} now`);
      this.targets.set(holder, schema);
    }
    const known = new Map<unknown, Effort>();
    for (const { schema } of this.places.values()) this.effort(schema, known, []);
  }

  private locate(reference: unknown, base: string): string | undefined {
    if (typeof reference !== 'string') return undefined;
    const uri = absolute(reference, base);
    if (uri === undefined) return undefined;
    const [resource = '', fragment = ''] = uri.split('#', 2);
    const start = this.named.get(resource);
    if (fragment === '') return start;
    if (!fragment.startsWith('/')) return this.named.get(uri);
    const path = start === undefined ? undefined : `${start}${decodedPointer(fragment)}`;
    return path !== undefined && isSchemaLike(valueAt(this.document, path)) ? path : undefined;
  }

  /** The definition with the name that a reference ends with, if it is only the way there that is wrong. */
  private guess(reference: unknown, path: string): string {
    const name =
      typeof reference === 'string' ? /^(?:#\/(?:\$defs|definitions|components\/schemas)\/)?([^/#:]+)$/.exec(reference)?.[1] : undefined;
    const places = ['#/$defs', '#/definitions', '#/components/schemas'].map((place) => `${place}/${decodedPointer(name ?? '')}`);
    const found = places.find((place) => isSchemaLike(valueAt(this.document, place)));
    if (name === undefined || found === undefined)
      return this.changes.refuse(
        path,
        `it refers to ${describe(reference)}, and there is no such schema here; schemas from elsewhere are not fetched`,
      );
    this.changes.fault(path, `there is nothing at ${describe(reference)}`, `took ${found}`);
    return found;
  }

  /** Puts a schema that is not where schemas are among the definitions. */
  private adopt(from: string, root: Draft, mend: (value: unknown, place: SchemaPlace) => unknown): void {
    const definitions = (root['$defs'] ??= {}) as Draft;
    const name = freeName(
      from
        .slice(from.lastIndexOf('/') + 1)
        .replaceAll('~1', '/')
        .replaceAll('~0', '~'),
      definitions,
    );
    definitions[name] = true; // the name is taken while the schema is made
    const place = { from, to: childPath('#/$defs', name), base: NO_BASE, isPart: true };
    definitions[name] = mend(valueAt(this.document, from), place);
  }

  /** What checking one value by a schema takes; refuses a schema that would take for ever. */
  private effort(schema: unknown, known: Map<unknown, Effort>, chain: readonly unknown[]): Effort {
    if (typeof schema !== 'object' || schema === null) return { steps: 1, depth: 1 };
    const before = known.get(schema);
    if (before) return before;
    const path = this.paths.get(schema) ?? '#';
    if (chain.includes(schema)) this.changes.refuse(path, 'it refers to itself without end');
    if (chain.length > MAX_CHAIN) this.changes.refuse(path, LONG_CHAIN);
    const inner = [this.targets.get(schema), ...partsOf(schema as Draft)].map((part) => this.effort(part, known, [...chain, schema]));
    const steps = inner.reduce((sum, part) => sum + part.steps, 1);
    const depth = 1 + Math.max(...inner.map((part) => part.depth));
    if (depth > MAX_CHAIN) this.changes.refuse(path, LONG_CHAIN);
    if (steps > MAX_STEPS) this.changes.refuse(path, `it applies more than ${MAX_STEPS} schemas to one value`);
    known.set(schema, { steps, depth });
    return { steps, depth };
  }
}

interface Effort {
  readonly steps: number;
  readonly depth: number;
}

/** The schemas inside of a schema that hold for the same value. */
function partsOf({ allOf, anyOf, oneOf, not, if: condition, then, else: otherwise, dependentSchemas }: Draft): readonly unknown[] {
  const lists = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return [...lists, not, condition, then, otherwise, ...Object.values((dependentSchemas ?? {}) as JsonSchema)];
}

/** A name that an object does not have yet. */
export function freeName(name: string, taken: JsonSchema): string {
  let free = name;
  for (let at = 2; Object.hasOwn(taken, free) || free === '__proto__'; at++) free = `${name}_${at}`;
  return free;
}

function isSchemaLike(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

function absolute(reference: string, base: string): string | undefined {
  try {
    return withoutEmptyFragment(new URL(reference, base).href);
  } catch {
    return undefined;
  }
}

function withoutEmptyFragment(uri: string): string {
  return uri.endsWith('#') ? uri.slice(0, -1) : uri;
}

function encoded(path: string, at: string, changes: SchemaChanges): string {
  try {
    return `#${encodeURI(path.slice(1)).replaceAll('#', '%23')}`;
  } catch (error) {
    return changes.refuse(at, 'it refers to a name with half a character', error);
  }
}
