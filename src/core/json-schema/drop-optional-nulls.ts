import type { JsonSchema } from '../chat/tool-definition.js';
import type { JsonValue } from '../internal/json.js';
import { isPlainObject } from '../internal/options.js';
import { decodeReference, listOf, valueAt } from './json-pointer.js';
import { hasType } from './normalize/type-names.js';

/**
 * Removes properties whose null means "absent": the schema neither requires the property nor
 * allows null. Strict mode, which knows no optional properties, makes models send such nulls.
 */
export function dropOptionalNulls(value: JsonValue, schema: JsonSchema): JsonValue {
  return new NullDropper(schema).dropNulls(value, schema) as JsonValue;
}

/** Maximum number of steps between schemas for one value; a schema may refer to itself. */
const MAX_STEPS = 8;

class NullDropper {
  constructor(private readonly root: JsonSchema) {}

  dropNulls(value: unknown, schema: unknown, steps = 0): unknown {
    const resolved = this.resolve(schema);
    if (!resolved || typeof value !== 'object' || value === null || steps > MAX_STEPS) return value;
    const own = Array.isArray(value)
      ? this.dropInItems(value, resolved)
      : this.dropInObject(value as JsonSchema, resolved);
    return this.branchesOf(own, resolved).reduce<unknown>(
      (changed, branch) => this.dropNulls(changed, branch, steps + 1),
      own,
    );
  }

  private dropInItems(values: readonly unknown[], { items, prefixItems }: JsonSchema): object {
    return values.map((value, at) => this.dropNulls(value, listOf(prefixItems)[at] ?? items));
  }

  private dropInObject(object: JsonSchema, schema: JsonSchema): object {
    const { properties = {}, required, additionalProperties } = schema;
    const entries = Object.entries(object).flatMap(([name, value]) => {
      const isKnown = Object.hasOwn(properties as JsonSchema, name);
      const property = isKnown ? (properties as JsonSchema)[name] : additionalProperties;
      const isOptional = isKnown && !listOf(required).includes(name);
      const isAbsent = value === null && isOptional && !this.mayAllow(null, property);
      return isAbsent ? [] : [[name, this.dropNulls(value, property)]];
    });
    return Object.fromEntries(entries) as object;
  }

  /** Schemas of `allOf`, and the branches of `anyOf` and `oneOf` that are certainly meant. */
  private branchesOf(value: object, { allOf, anyOf, oneOf }: JsonSchema): readonly unknown[] {
    const meant = [anyOf, oneOf].flatMap((branches) => {
      const possible = listOf(branches).filter(
        (branch) => this.resolve(branch) && this.mayAllow(value, branch),
      );
      if (possible.length <= 1) return possible;
      // in strict mode models write no other properties
      const complete = possible.filter((branch) => {
        const { properties = {} } = this.resolve(branch) ?? {};
        return Object.keys(value).every((name) => Object.hasOwn(properties as object, name));
      });
      return complete.length === 1 ? complete : [];
    });
    return [...listOf(allOf), ...meant];
  }

  /** Checks type, constants and required properties; schemas of properties only for constants. */
  private mayAllow(value: unknown, schema: unknown, steps = 0): boolean {
    const resolved = this.resolve(schema);
    if (!resolved || steps > MAX_STEPS) return schema !== false;
    const { type, enum: values, anyOf, oneOf, allOf } = resolved;
    const mayBe = (branch: unknown): boolean => this.mayAllow(value, branch, steps + 1);
    return (
      hasType(value, type) &&
      (!('const' in resolved) || resolved['const'] === value) &&
      (!Array.isArray(values) || values.includes(value)) &&
      [anyOf, oneOf].every((branches) => !Array.isArray(branches) || branches.some(mayBe)) &&
      listOf(allOf).every(mayBe) &&
      (!isPlainObject(value) || mayHaveProperties(value, resolved))
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

function mayHaveProperties(object: JsonSchema, { required, properties = {} }: JsonSchema): boolean {
  const constants = Object.entries(properties as JsonSchema).filter(
    ([, property]) => isPlainObject(property) && 'const' in property,
  ) as [string, JsonSchema][];
  return (
    listOf(required).every((name) => Object.hasOwn(object, String(name))) &&
    constants.every(([name, property]) => object[name] === property['const'])
  );
}
