import type { JsonSchema } from '../chat/tool-definition.js';
import { isPlainObject } from '../internal/options.js';
import type { Scope } from './issues.js';
import { listOf } from './json-pointer.js';

/** Keywords that apply a schema to all parts that others leave. */
const REST_OF_OBJECT = ['additionalProperties', 'unevaluatedProperties'];
const REST_OF_LIST = ['items', 'unevaluatedItems'];

/** Names or places of the parts to which a schema, or a branch of it that fits, applies a schema. */
export function evaluatedKeys(schema: unknown, value: object, scope: Scope): readonly string[] {
  if (!isPlainObject(schema)) return [];
  const rest = Array.isArray(value) ? REST_OF_LIST : REST_OF_OBJECT;
  if (rest.some((keyword) => schema[keyword] !== undefined)) return Object.keys(value);
  const branches = branchesOf(schema, value, scope);
  return [
    ...(Array.isArray(value) ? placesOf(schema, value, scope) : namesOf(schema)),
    ...branches.flatMap((branch) => evaluatedKeys(branch, value, scope)),
  ];
}

function namesOf({ properties }: JsonSchema): readonly string[] {
  return isPlainObject(properties) ? Object.keys(properties) : [];
}

function placesOf(schema: JsonSchema, list: readonly unknown[], scope: Scope): readonly string[] {
  const { prefixItems, contains } = schema;
  const first = Object.keys(listOf(prefixItems));
  if (contains === undefined) return first;
  return Object.keys(list).filter(
    (place) => first.includes(place) || scope.isValid(contains, list[Number(place)]),
  );
}

/** Schemas for the same value that it fits. */
function branchesOf(schema: JsonSchema, value: object, scope: Scope): readonly unknown[] {
  const { $ref, allOf, anyOf, oneOf, if: condition, dependentSchemas } = schema;
  const target = $ref === undefined ? [] : [scope.targetOf($ref)];
  const dependent = Object.entries(isPlainObject(dependentSchemas) ? dependentSchemas : {});
  const due = dependent.filter(([name]) => Object.hasOwn(value, name)).map(([, each]) => each);
  const branches = [...target, ...[allOf, anyOf, oneOf].flatMap(listOf), ...due];
  if (condition !== undefined)
    branches.push(condition, schema[scope.isValid(condition, value) ? 'then' : 'else']);
  return branches.filter((branch) => isPlainObject(branch) && scope.isValid(branch, value));
}
