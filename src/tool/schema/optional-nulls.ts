import type { JsonValue } from '../../chat/json.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { decodedPointer, valueAt } from './schema-changes.js';
import { isObject } from './schema-types.js';

/**
 * Arguments without the nulls that stand for "left out": a property is dropped if its value is null, the schema does not require
 * it and does not admit null. Strict mode makes models send such nulls, since it knows no optional properties.
 */
export function dropOptionalNulls(value: JsonValue, schema: JsonSchema): JsonValue {
  return new NullDropper(schema).drop(value, schema);
}

type JsonObject = { readonly [key: string]: JsonValue };

/** Steps from schema to schema without a step into the value; a schema may refer to itself. */
const MAX_STEPS = 8;

class NullDropper {
  constructor(private readonly root: JsonSchema) {}

  drop(value: JsonValue, schema: unknown, steps = 0): JsonValue {
    const form = this.resolve(schema);
    if (!form || typeof value !== 'object' || value === null || steps > MAX_STEPS) return value;
    const own = Array.isArray(value) ? this.dropInItems(value as readonly JsonValue[], form) : this.dropInObject(value as JsonObject, form);
    return this.branches(own, form).reduce<JsonValue>((changed, branch) => this.drop(changed, branch, steps + 1), own);
  }

  private dropInItems(items: readonly JsonValue[], { items: schema, prefixItems }: JsonSchema): JsonValue {
    return items.map((item, at) => this.drop(item, Array.isArray(prefixItems) ? (prefixItems[at] ?? schema) : schema));
  }

  private dropInObject(object: JsonObject, { properties, required, additionalProperties }: JsonSchema): JsonValue {
    const schemas = isObject(properties) ? properties : {};
    const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
    const entries = Object.entries(object).flatMap(([name, value]) => {
      const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
      if (value === null && schema !== undefined && !isRequired(name) && !this.admitsNull(schema)) return [];
      return [[name, this.drop(value, schema ?? additionalProperties)]];
    });
    return Object.fromEntries(entries) as JsonObject;
  }

  /** The schemas below `allOf`, `anyOf` and `oneOf` that hold for a value, as far as that is certain. */
  private branches(value: JsonValue, { allOf, anyOf, oneOf }: JsonSchema): readonly unknown[] {
    const all: readonly unknown[] = Array.isArray(allOf) ? allOf : [];
    const one = [anyOf, oneOf].flatMap((alternatives) => {
      const fitting = Array.isArray(alternatives) ? alternatives.filter((branch) => this.mayBe(value, branch)) : [];
      const certain = fitting.length > 1 ? fitting.filter((branch) => this.knowsAll(value, branch)) : fitting;
      return certain.length === 1 ? (certain as unknown[]) : [];
    });
    return [...all, ...one];
  }

  /** Whether a branch has all the properties of a value: in strict mode a model writes those of its branch and no others. */
  private knowsAll(value: JsonValue, branch: unknown): boolean {
    const properties = this.resolve(branch)?.['properties'];
    return isObject(properties) && Object.keys(value as JsonObject).every((name) => Object.hasOwn(properties, name));
  }

  /** Whether a value may be meant by a branch: it has the branch's type, what that requires, and its fixed values. */
  private mayBe(value: JsonValue, branch: unknown): boolean {
    const form = this.resolve(branch);
    if (!form) return false;
    const type = Array.isArray(value) ? 'array' : 'object';
    if (form['type'] !== undefined && !typesOf(form).includes(type)) return false;
    const required: readonly unknown[] = Array.isArray(form['required']) ? form['required'] : [];
    if (!required.every((name) => Object.hasOwn(value as JsonObject, String(name)))) return false;
    const properties = isObject(form['properties']) ? Object.entries(form['properties']) : [];
    return properties.every(([name, property]) => {
      if (!isObject(property) || !('const' in property)) return true;
      return Object.hasOwn(value as JsonObject, name) && (value as JsonObject)[name] === property['const'];
    });
  }

  private admitsNull(schema: unknown, steps = 0): boolean {
    const form = this.resolve(schema);
    if (!form || steps > MAX_STEPS) return schema !== false;
    const { anyOf, oneOf, allOf, enum: values } = form;
    const admits = (branch: unknown): boolean => this.admitsNull(branch, steps + 1);
    return (
      (form['type'] === undefined || typesOf(form).includes('null')) &&
      (!('const' in form) || form['const'] === null) &&
      (!Array.isArray(values) || values.includes(null)) &&
      [anyOf, oneOf].every((branches) => !Array.isArray(branches) || branches.some(admits)) &&
      (!Array.isArray(allOf) || allOf.every(admits))
    );
  }

  /** The schema that a chain of references leads to; undefined if it is not an object or leads nowhere. */
  private resolve(schema: unknown): JsonSchema | undefined {
    let found = schema;
    for (let steps = 0; steps <= MAX_STEPS && isObject(found); steps++) {
      const reference = found['$ref'];
      if (typeof reference !== 'string') return found;
      found = this.follow(reference);
    }
    return undefined;
  }

  private follow(reference: string): unknown {
    return reference.startsWith('#') ? valueAt(this.root, decodedPointer(reference)) : undefined;
  }
}

function typesOf({ type }: JsonSchema): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}
