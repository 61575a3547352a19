import type { JsonSchema } from '../chat/tool-definition.js';
import { canonicalJson, type JsonValue } from '../internal/json.js';
import { isPlainObject } from '../internal/options.js';
import type { CheckSteps } from './check-steps.js';
import { listOf, valueAt } from './json-pointer.js';
import { ANNOTATIONS, BOUNDS } from './keywords.js';
import { hasType } from './normalize/type-names.js';
import { includesScalar } from './sure-check.js';

/** True for a valid value; undefined if a keyword that is not known here decides. */
type Verdict = boolean | undefined;

/** Steps for one schema and one value: more than for a sure check, which keeps nothing. */
const STEPS = 2;
/** Characters of list items that are compared in one step. */
const CHARACTERS_PER_STEP = 50;

/** References into the schema itself. */
const LOCAL = /^#(?:$|\/(?:\$defs|definitions|properties)\/[^%]*$)/;
/** Keywords that change where a reference leads. */
const MOVING = /"(?:\$id|id|\$anchor|\$dynamicAnchor|\$recursiveAnchor)":["{t]/;
const EXACT_BOUNDS = /^(?:(?:exclusive)?(?:minimum|maximum)|(?:min|max)Items)$/i;

/**
 * Checks one value by the common keywords with references, in time proportional to schema and value:
 * a definition is applied to each value once, however many alternatives lead to it.
 */
export class MemoizedCheck {
  private readonly verdicts = new Map<unknown, Map<unknown, Verdict>>();
  private isMoving: boolean | undefined;

  constructor(
    private readonly root: JsonSchema,
    private readonly steps: CheckSteps,
  ) {}

  check(value: unknown): Verdict {
    return this.of(this.root, value);
  }

  private of(schema: unknown, value: unknown): Verdict {
    this.steps.take(STEPS);
    if (typeof schema === 'boolean') return schema;
    if (!isPlainObject(schema)) return undefined;
    return every(Object.keys(schema), (keyword) => this.fits(value, keyword, schema));
  }

  private fits(value: unknown, keyword: string, schema: JsonSchema): Verdict {
    const rule = schema[keyword];
    switch (keyword) {
      case '$ref':
        return this.reference(rule, value);
      case 'allOf':
        return every(listOf(rule), (branch) => this.of(branch, value));
      case 'anyOf':
        return not(every(listOf(rule), (branch) => not(this.of(branch, value))));
      case 'oneOf':
        return exactlyOne(listOf(rule).map((branch) => this.of(branch, value)));
      case 'not':
        return not(this.of(rule, value));
      case 'properties':
      case 'additionalProperties':
      case 'required':
        return !isPlainObject(value) || this.object(value, keyword, schema);
      case 'items':
        return !Array.isArray(value) || this.items(value, schema);
      case 'uniqueItems':
        return !Array.isArray(value) || rule !== true || hasUniqueItems(value, this.steps);
      default:
        return simpleVerdict(value, keyword, rule, this.steps);
    }
  }

  private items(list: readonly unknown[], { items, prefixItems }: JsonSchema): Verdict {
    if (prefixItems !== undefined || Array.isArray(items)) return undefined;
    return every(list, (item) => this.of(items, item));
  }

  private object(object: JsonSchema, keyword: string, schema: JsonSchema): Verdict {
    const rule = schema[keyword];
    if (keyword === 'required')
      return listOf(rule).every((name) => Object.hasOwn(object, name as string));
    const known = (schema['properties'] ?? {}) as JsonSchema;
    if (keyword === 'properties') {
      this.steps.take(Object.keys(known).length);
      const names = Object.keys(known).filter((name) => Object.hasOwn(object, name));
      return every(names, (name) => this.of(known[name], object[name]));
    }
    if ('patternProperties' in schema) return undefined;
    const others = Object.keys(object).filter((name) => !Object.hasOwn(known, name));
    return every(others, (name) => this.of(rule, object[name]));
  }

  private reference(reference: unknown, value: unknown): Verdict {
    if (typeof reference !== 'string' || !LOCAL.test(reference)) return undefined;
    this.isMoving ??= MOVING.test(JSON.stringify(this.root));
    const target = this.isMoving ? undefined : valueAt(this.root, reference);
    const known = this.verdicts.get(target) ?? new Map<unknown, Verdict>();
    this.verdicts.set(target, known);
    // a reference that leads back to the same value is not decided here
    if (!known.has(value)) known.set(value, undefined).set(value, this.of(target, value));
    return known.get(value);
  }
}

function simpleVerdict(value: unknown, keyword: string, rule: unknown, steps: CheckSteps): Verdict {
  const isScalar = typeof value !== 'object' || value === null;
  switch (keyword) {
    case 'type':
      return hasType(value, rule);
    case 'enum':
      return isScalar ? includesScalar(listOf(rule), value, steps) : undefined;
    case 'const':
      return isScalar ? value === rule : undefined;
    default: {
      if (ANNOTATIONS.has(keyword)) return true;
      if (typeof rule !== 'number') return undefined;
      const isKept = BOUNDS.get(keyword)?.(value, rule);
      return isKept || EXACT_BOUNDS.test(keyword) ? isKept : undefined;
    }
  }
}

/** False if one is false, true if all are true. */
function every<T>(items: readonly T[], verdictOf: (item: T) => Verdict): Verdict {
  let isSure = true;
  for (const item of items) {
    const verdict = verdictOf(item);
    if (verdict === false) return false;
    if (verdict === undefined) isSure = false;
  }
  return isSure || undefined;
}

function not(verdict: Verdict): Verdict {
  return verdict === undefined ? undefined : !verdict;
}

function exactlyOne(verdicts: readonly Verdict[]): Verdict {
  const valid = verdicts.filter((verdict) => verdict === true).length;
  if (valid > 1) return false;
  return verdicts.includes(undefined) ? undefined : valid === 1;
}

function hasUniqueItems(list: readonly unknown[], steps: CheckSteps): Verdict {
  const keys = new Set<string>();
  for (const item of list) {
    const key = keyOf(item);
    if (key === undefined) return undefined;
    steps.take(1 + key.length / CHARACTERS_PER_STEP);
    keys.add(key);
  }
  return keys.size === list.length;
}

function keyOf(item: unknown): string | undefined {
  try {
    return canonicalJson(item as JsonValue);
  } catch {
    return undefined; // a result that is not JSON
  }
}
