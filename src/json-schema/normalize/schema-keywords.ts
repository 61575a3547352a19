import type { JsonSchema } from '../../chat/tool-definition.js';
import { describe } from '../../internal/text.js';
import { isPlainObject } from '../../internal/options.js';
import { freeName } from '../json-pointer.js';
import type { SchemaReferences } from './references.js';
import type { Draft, SchemaContext } from './schema-context.js';
import { isTypeName, schemaOfType, union } from './type-names.js';
import {
  booleanOf,
  changedTo,
  isPattern,
  normalizeNames,
  normalizeNumber,
  numberOf,
  VALUE_KEYWORDS,
  words,
  type Position,
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
type KeywordNormalizer = (value: unknown, at: Position, scope: SchemaScope) => unknown;

const useless = removal('it is of no use to a model', 'removed it');

/** Keywords of JSON Schema, of its older drafts and of OpenAPI. */
export const KEYWORDS: ReadonlyMap<string, KeywordNormalizer> = new Map<string, KeywordNormalizer>([
  ...VALUE_KEYWORDS,
  ...words('contains not if then else propertyNames contentSchema', normalizeInner),
  ...words('additionalProperties unevaluatedItems unevaluatedProperties', normalizeFlag),
  ...words('allOf anyOf oneOf prefixItems', normalizeList),
  ...words('properties dependentSchemas', normalizeMap),
  ['patternProperties', normalizePatternProperties],
  ['$defs', normalizeDefinitions],
  ['definitions', renameDefinitions],
  ['dependencies', renameDependencies],
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
  ['$ref', normalizeReference],
  ...words('$dynamicRef $recursiveRef', renameReference),
  ...words('$schema $id id $vocabulary $anchor $dynamicAnchor $recursiveAnchor', useless),
]);

function removal(problem: string, action: string): KeywordNormalizer {
  return (_value, at) => at().warning(problem, action);
}

function normalizeInner(value: unknown, at: Position, { normalize }: SchemaScope): unknown {
  return normalize(value, at());
}

/** Normalizes a schema that is often a boolean, or the text of one. */
function normalizeFlag(value: unknown, at: Position, { normalize }: SchemaScope): unknown {
  const flag = typeof value === 'string' ? booleanOf(value) : undefined;
  if (flag !== undefined) at().error(`${describe(value)} is a string`, changedTo(flag));
  return normalize(flag ?? value, at());
}

function normalizeList(value: unknown, at: Position, { normalize }: SchemaScope): unknown {
  const context = at();
  if (Array.isArray(value) && value.length > 0)
    return value.map((schema, index) => normalize(schema, context.child(index)));
  const isArray = Array.isArray(value);
  context.error('it must be an array of schemas', isArray ? 'removed it' : 'made it the only one');
  return isArray ? undefined : [normalize(value, context.at(context.path, `${context.target}/0`))];
}

function normalizeMap(value: unknown, at: Position, { normalize }: SchemaScope): Draft {
  const context = at();
  const schemas: Draft = {};
  for (const [name, schema] of Object.entries(schemasByName(value, context)))
    schemas[name] = normalize(schema, context.child(name));
  return schemas;
}

/** Reads schemas by name, or the empty array that PHP writes for an empty object. */
function schemasByName(value: unknown, context: SchemaContext): JsonSchema {
  if (isPlainObject(value)) return value;
  if (!Array.isArray(value) || value.length > 0)
    return context.reject(`it must be an object of schemas by name, not ${describe(value)}`);
  context.error('it is an empty array', changedTo({}));
  return {};
}

function normalizePatternProperties(value: unknown, at: Position, scope: SchemaScope): unknown {
  const entries = Object.entries(schemasByName(value, at()));
  const valid = entries.filter(([name]) => isPattern(name, () => at().child(name)));
  return normalizeMap(Object.fromEntries(valid), at, scope);
}

/** `definitions` may have filled `$defs` already. */
function normalizeDefinitions(value: unknown, at: Position, scope: SchemaScope): unknown {
  return { ...(scope.draft['$defs'] as object | undefined), ...normalizeMap(value, at, scope) };
}

function renameDefinitions(value: unknown, at: Position, scope: SchemaScope): void {
  const { draft, source, normalize } = scope;
  const context = at('$defs');
  context.warning('it has another name since 2019', 'renamed it to "$defs"');
  const definitions = (draft['$defs'] ??= {}) as Draft;
  for (const [name, schema] of Object.entries(schemasByName(value, context))) {
    const free = freeName(name, { ...(source['$defs'] as object | undefined), ...definitions });
    definitions[free] = normalize(schema, context.child(name, free));
  }
}

function renameDependencies(value: unknown, at: Position, { draft, normalize }: SchemaScope): void {
  const context = at('dependentSchemas');
  const action = 'renamed it to "dependentRequired" or "dependentSchemas"';
  context.warning('it has other names since 2019', action);
  for (const [name, needed] of Object.entries(schemasByName(value, context))) {
    const isNames = typeof needed === 'string' || Array.isArray(needed);
    const dependents = (draft[isNames ? 'dependentRequired' : 'dependentSchemas'] ??= {}) as Draft;
    dependents[name] ??= isNames
      ? normalizeNames([needed].flat(), () => context.child(name))
      : normalize(needed, context.child(name));
  }
}

function normalizeType(value: unknown, at: Position, { draft, source }: SchemaScope): unknown {
  const names = [value].flat();
  if (names.length > 0 && names.every(isTypeName) && new Set(names).size === names.length)
    return value;
  const isBlank = (name: unknown): boolean => name === '' || (name === 'enum' && name in source);
  const schema = union(names.map((name) => (isBlank(name) ? {} : schemaOfType(name))));
  if (!schema) return at().reject(`${describe(value)} is not a known type`);
  if ('anyOf' in schema && 'anyOf' in source) at().reject(`${describe(value)} is beside "anyOf"`);
  const { type, ...others } = schema;
  const added = Object.entries(others).filter(([keyword]) => !(keyword in source));
  const part = { ...(type !== undefined && { type }), ...Object.fromEntries(added) };
  at().error(`${describe(value)} is not a type of JSON Schema`, changedTo(part));
  Object.assign(draft, part);
  return type;
}

/** Normalizes `items`; an array of schemas, one for each item, has another name since 2020. */
function normalizeItems(value: unknown, at: Position, scope: SchemaScope): unknown {
  if (!Array.isArray(value)) return normalizeInner(value, at, scope);
  const toPrefix = (): SchemaContext => at('prefixItems');
  if ('prefixItems' in scope.source) toPrefix().reject('it is an array beside "prefixItems"');
  toPrefix().error(
    'an array of schemas has another name since 2020',
    'renamed it to "prefixItems"',
  );
  if (value.length > 0) scope.draft['prefixItems'] = normalizeList(value, toPrefix, scope);
  return undefined;
}

function renameAdditionalItems(value: unknown, at: Position, scope: SchemaScope): void {
  const isUsed = Array.isArray(scope.source['items']);
  if (!isUsed) return at('items').warning('it has no meaning here', 'removed it');
  at('items').warning('it has another name since 2020', 'renamed it to "items"');
  scope.draft['items'] = scope.normalize(value, at('items'));
}

/** Normalizes a list of names; `finishSchema` of the object adds the name of a flag to its list. */
function normalizeRequired(value: unknown, at: Position): unknown {
  if (Array.isArray(value) || booleanOf(value) === undefined) return normalizeNames(value, at);
  const problem = 'it must be an array of names, at the object';
  return at().error(problem, 'added the name there if it is true');
}

/** Removes a limit whose number becomes the exclusive limit, as before draft 6. */
function normalizeLimit(exclusive: string): KeywordNormalizer {
  return (value, at, { source }) => {
    const isExclusive = booleanOf(source[exclusive]) === true && numberOf(value) !== undefined;
    return isExclusive ? undefined : normalizeNumber(value, at);
  };
}

/** Normalizes an exclusive limit, or `true` beside a limit. */
function normalizeExclusive(limit: string): KeywordNormalizer {
  return (value, at, { source }) => {
    const isExclusive = booleanOf(value);
    if (isExclusive === undefined) return normalizeNumber(value, at);
    const bound = isExclusive ? numberOf(source[limit]) : undefined;
    const action = bound === undefined ? 'removed it' : changedTo(bound);
    at().error(`${describe(value)} is not a number`, action);
    return bound;
  };
}

function normalizeReference(value: unknown, at: Position, scope: SchemaScope): unknown {
  scope.references.addReference(scope.draft, value, at());
  return value;
}

function renameReference(value: unknown, at: Position, scope: SchemaScope): void {
  if ('$ref' in scope.source) at().reject('it is beside another reference');
  scope.draft['$ref'] = normalizeReference(value, at, scope);
}
