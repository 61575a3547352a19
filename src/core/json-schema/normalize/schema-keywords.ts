import type { JsonSchema } from '../../chat/tool-definition.js';
import { describe } from '../../errors/describe.js';
import { isPlainObject } from '../../internal/options.js';
import { freeName } from '../json-pointer.js';
import type { SchemaReferences } from './references.js';
import type { Draft, SchemaContext } from './schema-context.js';
import { isTypeName, schemaOfTypes } from './type-names.js';
import {
  booleanOf,
  changedTo,
  isPattern,
  normalizeNames,
  normalizeNumber,
  numberOf,
  VALUE_KEYWORDS,
  words,
} from './value-keywords.js';

/** A schema that is being normalized, and the parts of the normalizer that keywords need. */
export interface SchemaScope {
  /** The given schema. */
  readonly source: JsonSchema;
  readonly draft: Draft;
  readonly references: SchemaReferences;
  readonly normalize: (value: unknown, context: SchemaContext) => JsonSchema | boolean;
}

/**
 * Normalizes the value of a keyword; undefined removes the keyword. A keyword of another draft or
 * language adds its meaning to the draft.
 */
type KeywordNormalizer = (value: unknown, at: SchemaContext, scope: SchemaScope) => unknown;

const useless = removal('it is of no use to a model', 'removed it');

/** Keywords of JSON Schema, of its older drafts and of OpenAPI. */
export const KEYWORDS: ReadonlyMap<string, KeywordNormalizer> = new Map<string, KeywordNormalizer>([
  ...VALUE_KEYWORDS,
  ...words('contains not if then else propertyNames contentSchema', normalizeInner),
  ...words('additionalProperties unevaluatedItems unevaluatedProperties', normalizeInner),
  ...words('allOf anyOf oneOf prefixItems', normalizeList),
  ...words('properties dependentSchemas', normalizeMap),
  ['dependentRequired', (value, at) => normalizeEach(value, at, normalizeNames)],
  ['patternProperties', normalizePatterns],
  ...words('$defs definitions', addDefinitions),
  ['dependencies', removal('it has no meaning since 2019', 'removed it')],
  ['type', normalizeType],
  ['items', normalizeItems],
  ['additionalItems', renameAdditionalItems],
  ['required', normalizeRequired],
  ['minimum', normalizeLimit('exclusiveMinimum')],
  ['maximum', normalizeLimit('exclusiveMaximum')],
  ['exclusiveMinimum', normalizeExclusive('minimum')],
  ['exclusiveMaximum', normalizeExclusive('maximum')],
  ['nullable', removal('it is not JSON Schema', 'allowed null if it is true')],
  ['optional', removal('it is not JSON Schema', 'removed it: "required" decides')],
  ...words('$ref $dynamicRef $recursiveRef', normalizeReference),
  ...words('$schema $id id $vocabulary $anchor $dynamicAnchor $recursiveAnchor', useless),
]);

function removal(problem: string, action: string): KeywordNormalizer {
  return (_value, at) => at.warning(problem, action);
}

function normalizeInner(value: unknown, at: SchemaContext, { normalize }: SchemaScope): unknown {
  return normalize(value, at);
}

function normalizeList(value: unknown, at: SchemaContext, { normalize }: SchemaScope): unknown {
  if (Array.isArray(value) && value.length > 0)
    return value.map((schema, index) => normalize(schema, at.child(index)));
  const isArray = Array.isArray(value);
  at.error('it must be an array of schemas', isArray ? 'removed it' : 'made it the only one');
  return isArray ? undefined : [normalize(value, at.child(0))];
}

function normalizeMap(value: unknown, at: SchemaContext, { normalize }: SchemaScope): Draft {
  return normalizeEach(value, at, normalize);
}

function normalizePatterns(value: unknown, at: SchemaContext, { normalize }: SchemaScope): Draft {
  return normalizeEach(value, at, (schema, context, name) =>
    isPattern(name, context) ? normalize(schema, context) : undefined,
  );
}

/** Normalizes each value of an object; undefined removes it. */
function normalizeEach(
  value: unknown,
  at: SchemaContext,
  normalize: (inner: unknown, at: SchemaContext, name: string) => unknown,
): Draft {
  const normalized = entriesOf(value, at).map(
    ([name, inner]) => [name, normalize(inner, at.child(name), name)] as const,
  );
  return Object.fromEntries(normalized.filter(([, inner]) => inner !== undefined));
}

/** Reads entries by name, or the empty array that PHP writes for an empty object. */
function entriesOf(value: unknown, at: SchemaContext): readonly (readonly [string, unknown])[] {
  if (isPlainObject(value)) return Object.entries(value);
  if (!Array.isArray(value) || value.length > 0)
    return at.reject(`it must be an object whose keys are names, not ${describe(value)}`);
  at.error('it is an empty array', changedTo({}));
  return [];
}

function addDefinitions(value: unknown, at: SchemaContext, scope: SchemaScope): void {
  const context = at.renamed('$defs');
  if (context.target !== at.target)
    at.warning('it has another name since 2019', 'renamed it to "$defs"');
  const definitions = (scope.draft['$defs'] ??= {}) as Draft;
  for (const [name, schema] of entriesOf(value, at)) {
    const free = freeName(name, definitions);
    definitions[free] = scope.normalize(schema, context.child(name).renamed(free));
  }
}

function normalizeType(value: unknown, at: SchemaContext, { draft, source }: SchemaScope): unknown {
  const names = [value].flat();
  if (names.length > 0 && names.every(isTypeName) && new Set(names).size === names.length)
    return value;
  const isBlank = (name: unknown): boolean => name === '' || (name === 'enum' && name in source);
  const schema = schemaOfTypes(names.map((name) => (isBlank(name) ? 'any' : name)));
  if (!schema) return at.reject(`${describe(value)} is not a known type`);
  const part = Object.fromEntries(
    Object.entries(schema).filter(([key]) => key === 'type' || !(key in source)),
  );
  at.error(`${describe(value)} is not a type of JSON Schema`, changedTo(part));
  Object.assign(draft, part);
  return part['type'];
}

/** Normalizes `items`; an array of schemas, one for each item, has another name since 2020. */
function normalizeItems(value: unknown, at: SchemaContext, scope: SchemaScope): unknown {
  if (!Array.isArray(value)) return scope.normalize(value, at);
  if ('prefixItems' in scope.source) at.reject('it is an array beside "prefixItems"');
  at.error('an array of schemas has another name since 2020', 'renamed it to "prefixItems"');
  if (value.length > 0)
    scope.draft['prefixItems'] = normalizeList(value, at.renamed('prefixItems'), scope);
  return undefined;
}

function renameAdditionalItems(value: unknown, at: SchemaContext, scope: SchemaScope): void {
  const isUsed = Array.isArray(scope.source['items']);
  if (!isUsed) return at.warning('it has no meaning here', 'removed it');
  at.warning('it has another name since 2020', 'renamed it to "items"');
  scope.draft['items'] = scope.normalize(value, at.renamed('items'));
}

/** Normalizes a list of names; `finishSchema` of the object adds the name of a flag to its list. */
function normalizeRequired(value: unknown, at: SchemaContext): unknown {
  if (Array.isArray(value) || booleanOf(value) === undefined) return normalizeNames(value, at);
  return at.error('it must be an array of names, at the object', 'added the name there if true');
}

/** Removes a limit whose number becomes the exclusive limit, as before draft 6. */
function normalizeLimit(exclusive: string): KeywordNormalizer {
  return (value, at, { source }) =>
    booleanOf(source[exclusive]) === true ? undefined : normalizeNumber(value, at);
}

/** Normalizes an exclusive limit, or `true` beside a limit. */
function normalizeExclusive(limit: string): KeywordNormalizer {
  return (value, at, { source }) => {
    const isExclusive = booleanOf(value);
    if (isExclusive === undefined) return normalizeNumber(value, at);
    const bound = isExclusive ? numberOf(source[limit]) : undefined;
    const action = bound === undefined ? 'removed it' : changedTo(bound);
    at.error(`${describe(value)} is not a number`, action);
    return bound;
  };
}

function normalizeReference(value: unknown, at: SchemaContext, scope: SchemaScope): void {
  const { draft, references } = scope;
  if ('$ref' in draft) at.reject('it is beside another reference');
  draft['$ref'] = value;
  references.addReference(draft, value, at);
}
