import { describe } from '../../chat/message.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { childPath, type SchemaChanges } from './schema-changes.js';
import { finishSchema } from './schema-finish.js';
import { flagOf, isPattern, SCHEMA_KEYWORDS, VALUE_KEYWORDS } from './schema-keywords.js';
import { OLD_KEYWORDS } from './schema-old-keywords.js';
import type { Draft, SchemaPlace, SchemaReferences } from './schema-references.js';
import { isObject, isTypeName, schemaOfType } from './schema-types.js';

/** Makes JSON Schema 2020-12 of a schema, keyword by keyword. */
export class SchemaMender {
  constructor(
    readonly changes: SchemaChanges,
    readonly references: SchemaReferences | undefined,
  ) {}

  mend(value: unknown, place: SchemaPlace): JsonSchema | boolean {
    if (isObject(value)) return this.object(value, place);
    if (typeof value === 'boolean') {
      this.references?.enterBoolean(value, place);
      return value;
    }
    const meant = typeof value === 'string' ? schemaOfType(value) : undefined;
    if (!meant) return this.changes.refuse(place.from, `a schema must be an object, not ${describe(value)}`);
    this.changes.fault(place.from, `${describe(value)} is no schema`, `made it ${JSON.stringify(meant)}`);
    return this.object(meant, place);
  }

  private object(given: JsonSchema, outer: SchemaPlace): JsonSchema {
    const draft: Draft = {};
    const place = this.references?.enter(given, draft, outer) ?? outer;
    const source = Array.isArray(given['properties']) ? { ...given, properties: this.byName(given['properties'], place) } : given;
    if (needsBranchForNull(source)) this.orNull(draft, source, place);
    else this.keywords(draft, source, place);
    return draft;
  }

  private keywords(draft: Draft, source: JsonSchema, place: SchemaPlace, referencesBefore = this.references?.count): void {
    for (const keyword of Object.keys(source)) this.keyword(draft, keyword, source, place);
    finishSchema(draft, source, { place, changes: this.changes, hasReferences: referencesBefore !== this.references?.count });
  }

  private keyword(draft: Draft, keyword: string, source: JsonSchema, place: SchemaPlace): void {
    const value = source[keyword];
    if (keyword === 'type' && isTypeName(value)) {
      draft['type'] = value;
      return;
    }
    const old = OLD_KEYWORDS.get(keyword);
    const kind = SCHEMA_KEYWORDS.get(keyword);
    const mendValue = VALUE_KEYWORDS.get(keyword);
    const path = (): string => childPath(place.from, keyword);
    if (value === null && (old ?? kind ?? mendValue)) this.changes.fault(path(), 'it is null', 'left it out');
    else if (old?.({ draft, keyword, value, path: path(), source, place, mender: this })) return;
    else if (kind === 'list') set(draft, keyword, this.list(value, partOf(place, keyword)));
    else if (kind === 'map') draft[keyword] = this.map(value, keyword, draft, partOf(place, keyword));
    else if (kind) draft[keyword] = this.mend(this.flag(value, keyword, path()), partOf(place, keyword));
    else if (!mendValue) draft[keyword] = value;
    else set(draft, keyword, mendValue(value, path(), this.changes));
  }

  private flag(value: unknown, keyword: string, path: string): unknown {
    const meant = typeof value === 'string' && keyword !== 'items' ? flagOf(value) : undefined;
    if (meant !== undefined) this.changes.fault(path, `${describe(value)} is a text`, `made it ${meant}`);
    return meant ?? value;
  }

  list(value: unknown, place: SchemaPlace): readonly unknown[] | undefined {
    if (Array.isArray(value) && value.length > 0) return value.map((schema, at) => this.mend(schema, below(place, at)));
    this.changes.fault(place.from, 'it is no array of schemas', Array.isArray(value) ? 'left it out' : 'made one of it');
    return Array.isArray(value) ? undefined : [this.mend(value, { ...place, to: childPath(place.to, 0) })];
  }

  map(value: unknown, keyword: string, draft: Draft, place: SchemaPlace): JsonSchema {
    const mended: Draft = keyword === '$defs' && isObject(draft['$defs']) ? draft['$defs'] : {};
    for (const [name, schema] of Object.entries(this.namedSchemas(value, place))) {
      const inner = below(place, name);
      if (keyword !== 'patternProperties' || isPattern(name)) mended[name] = this.mend(schema, inner);
      else this.changes.advice(inner.from, `${describe(name)} is no regular expression of JavaScript`, 'left it out');
    }
    return mended;
  }

  namedSchemas(value: unknown, place: SchemaPlace): JsonSchema {
    if (isObject(value)) return value;
    if (!Array.isArray(value) || value.length > 0)
      return this.changes.refuse(place.from, `it must be an object of schemas by name, not ${describe(value)}`);
    this.changes.fault(place.from, 'it is an empty array', 'made an object of it'); // as PHP writes an empty object
    return {};
  }

  /** A list of parameters that have their names inside. */
  private byName(list: readonly unknown[], place: SchemaPlace): unknown {
    const entries = list.flatMap((item) => (isObject(item) && typeof item['name'] === 'string' ? [[item['name'], item] as const] : []));
    const names = new Set(entries.map(([name]) => name));
    if (list.length === 0 || names.size < list.length || names.has('__proto__')) return list;
    this.changes.fault(childPath(place.from, 'properties'), 'it is an array', 'made an object of it, by the names');
    return Object.fromEntries(entries.map(([name, item]) => [name, withoutName(item)]));
  }

  /** A schema that only others make up, or null. */
  private orNull(draft: Draft, source: JsonSchema, place: SchemaPlace): void {
    const entries = Object.entries(source);
    const about = entries.filter(([keyword]) => ABOUT.has(keyword));
    const rest = entries.filter(([keyword]) => !ABOUT.has(keyword) && keyword !== 'nullable');
    const inner: Draft = {};
    const referencesBefore = this.references?.count;
    this.keywords(inner, Object.fromEntries(rest), { ...place, to: `${place.to}/anyOf/0` });
    draft['anyOf'] = [inner, { type: 'null' }];
    this.changes.advice(childPath(place.from, 'nullable'), '"nullable" is no keyword of JSON Schema', 'allowed null beside the rest');
    this.keywords(draft, Object.fromEntries(about), place, referencesBefore);
  }
}

/** Keywords that say nothing about which values are valid. */
const ABOUT: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly']);

const OTHERS: readonly string[] = ['$ref', '$dynamicRef', '$recursiveRef', 'allOf', 'not', 'if'];

function needsBranchForNull(source: JsonSchema): boolean {
  if (flagOf(source['nullable']) !== true) return false;
  const isAbsent = (keyword: string): boolean => (source[keyword] ?? undefined) === undefined;
  return ['type', 'anyOf', 'oneOf'].every(isAbsent) && !OTHERS.every(isAbsent);
}

/** Keywords whose schemas hold together with others for one value, or where something refers to them. */
const PARTS: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  '$defs',
  'contains',
]);

function partOf(place: SchemaPlace, keyword: string): SchemaPlace {
  return { ...below(place, keyword), isPart: PARTS.has(keyword) };
}

/** The place of something inside. */
export function below(place: SchemaPlace, key: string | number): SchemaPlace {
  return { from: childPath(place.from, key), to: childPath(place.to, key), base: place.base, isPart: place.isPart };
}

function withoutName(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== 'name'));
}

function set(draft: Draft, keyword: string, value: unknown): void {
  if (value !== undefined) draft[keyword] = value;
}
