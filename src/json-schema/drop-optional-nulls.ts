import type { JsonValue } from '../internal/json.js';
import { isPlainObject } from '../internal/options.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { decodeReference, listOf, valueAt } from './json-pointer.js';

/**
 * Removes properties whose null stands for "absent": the schema neither requires the property nor
 * allows null. Strict mode, which knows no optional properties, makes models send such nulls.
 */
export function dropOptionalNulls(value: JsonValue, schema: JsonSchema): JsonValue {
  return new NullDropper(schema).dropNulls(value, schema);
}

type JsonObject = { readonly [key: string]: JsonValue };

/** Maximum number of steps between schemas for one value; a schema may refer to itself. */
const MAX_STEPS = 8;

class NullDropper {
  constructor(private readonly root: JsonSchema) {}

  dropNulls(value: JsonValue, schema: unknown, steps = 0): JsonValue {
    const resolved = this.resolve(schema);
    if (!resolved || typeof value !== 'object' || value === null || steps > MAX_STEPS) return value;
    const own = Array.isArray(value)
      ? this.dropInItems(value as readonly JsonValue[], resolved)
      : this.dropInObject(value as JsonObject, resolved);
    return this.branchesOf(own, resolved).reduce<JsonValue>(
      (changed, branch) => this.dropNulls(changed, branch, steps + 1),
      own,
    );
  }

  private dropInItems(
    values: readonly JsonValue[],
    { items, prefixItems }: JsonSchema,
  ): readonly JsonValue[] {
    return values.map((value, at) => this.dropNulls(value, listOf(prefixItems)[at] ?? items));
  }

  private dropInObject(object: JsonObject, schema: JsonSchema): JsonObject {
    const { properties, required, additionalProperties } = schema;
    const entries = Object.entries(object).flatMap(([name, value]) => {
      const property = propertyOf(properties, name);
      const isOptional = property !== undefined && !listOf(required).includes(name);
      if (value === null && isOptional && !this.allowsNull(property)) return [];
      return [[name, this.dropNulls(value, property ?? additionalProperties)]];
    });
    return Object.fromEntries(entries) as JsonObject;
  }

  /** Schemas of `allOf`, and the branches of `anyOf` and `oneOf` that are certainly meant. */
  private branchesOf(value: JsonValue, { allOf, anyOf, oneOf }: JsonSchema): readonly unknown[] {
    const meant = [anyOf, oneOf].flatMap((branches) => {
      const possible = listOf(branches).filter((branch) => this.mayMatch(value, branch));
      const known = possible.filter((branch) => this.hasAllOf(value, branch));
      return [possible, known].find(({ length }) => length === 1) ?? [];
    });
    return [...listOf(allOf), ...meant];
  }

  /** Checks whether a branch knows all properties of a value; in strict mode models write no others. */
  private hasAllOf(value: JsonValue, branch: unknown): boolean {
    const properties = this.resolve(branch)?.['properties'];
    return (
      isPlainObject(properties) &&
      Object.keys(value as JsonObject).every((name) => Object.hasOwn(properties, name))
    );
  }

  /** Checks that a value has the type, the required properties and the constants of a branch. */
  private mayMatch(value: JsonValue, branch: unknown): boolean {
    const schema = this.resolve(branch);
    if (!schema) return false;
    const { type, required, properties } = schema;
    const object = value as JsonObject;
    return (
      (type === undefined || [type].flat().includes(Array.isArray(value) ? 'array' : 'object')) &&
      listOf(required).every((name) => Object.hasOwn(object, String(name))) &&
      Object.entries(isPlainObject(properties) ? properties : {}).every(
        ([name, property]) =>
          !isPlainObject(property) ||
          !('const' in property) ||
          propertyOf(object, name) === property['const'],
      )
    );
  }

  private allowsNull(schema: unknown, steps = 0): boolean {
    const resolved = this.resolve(schema);
    if (!resolved || steps > MAX_STEPS) return schema !== false;
    const { type, anyOf, oneOf, allOf, enum: values } = resolved;
    const allows = (branch: unknown): boolean => this.allowsNull(branch, steps + 1);
    return (
      (type === undefined || [type].flat().includes('null')) &&
      (!('const' in resolved) || resolved['const'] === null) &&
      (!Array.isArray(values) || values.includes(null)) &&
      [anyOf, oneOf].every((branches) => !Array.isArray(branches) || branches.some(allows)) &&
      listOf(allOf).every(allows)
    );
  }

  /** Follows references; undefined if they lead to no object. */
  private resolve(schema: unknown): JsonSchema | undefined {
    let found = schema;
    for (let steps = 0; steps <= MAX_STEPS && isPlainObject(found); steps++) {
      const reference = found['$ref'];
      if (typeof reference !== 'string') return found;
      found = reference.startsWith('#')
        ? valueAt(this.root, decodeReference(reference))
        : undefined;
    }
    return undefined;
  }
}

function propertyOf(object: unknown, name: string): unknown {
  return isPlainObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}
