import { Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';
import type { JsonSchema } from '../chat/tool-definition.js';

/** Steps that each check has, and steps for each value inside of the checked one. */
const STEPS = 10_000;
const STEPS_PER_VALUE = 4;
/** Comparisons of list items that take the time of one step. */
const COMPARISONS_PER_STEP = 100;
/** Comparisons of texts or numbers that take the time of one comparison of objects. */
const SCALARS_PER_COMPARISON = 5;
/** Values beyond are not counted. */
const MAX_VALUES = 200_000;
const MAX_DEPTH = 200;

const EXCEEDED = new Error('The check takes too many steps.');

/**
 * Finds the errors of a value, and gives up after a number of steps: the validator evaluates every
 * alternative again on each level, so that a recursive schema takes exponential time.
 */
export class BoundedValidator {
  private readonly validator: Validator;
  private left = Number.POSITIVE_INFINITY;
  /** Steps of one `uniqueItems`, which compares all items with each other. */
  private stepsOfUnique = 0;

  constructor(schema: JsonSchema) {
    const copy = structuredClone(schema);
    this.count(copy);
    this.validator = new Validator(copy as Schema, '2020-12', false);
  }

  /** The errors, none for a valid value; undefined if the check was given up. */
  validate(value: unknown): readonly OutputUnit[] | undefined {
    const size = new Size();
    size.add(value, 0);
    this.left = STEPS + STEPS_PER_VALUE * size.values;
    this.stepsOfUnique = Math.ceil(size.comparisons / COMPARISONS_PER_STEP);
    try {
      return this.validator.validate(value).errors;
    } catch (error) {
      if (error === EXCEEDED) return undefined;
      throw error;
    }
  }

  /** Counts each use of a schema: the validator reads `$recursiveAnchor` whenever it applies one. */
  private count(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const inner of Object.values(value)) this.count(inner);
    if (Array.isArray(value)) return;
    const { $recursiveAnchor: anchor, uniqueItems } = value as JsonSchema;
    const comparesItems = Boolean(uniqueItems);
    Object.defineProperty(value, '$recursiveAnchor', {
      enumerable: Object.hasOwn(value, '$recursiveAnchor'),
      get: () => {
        this.left -= comparesItems ? this.stepsOfUnique + 1 : 1;
        if (this.left < 0) throw EXCEEDED;
        return anchor;
      },
    });
  }
}

/** The size of a value; of a result it may be cyclic. */
class Size {
  values = 0;
  /** Comparisons that the items of the largest list need. */
  comparisons = 0;

  add(value: unknown, depth: number): void {
    if (++this.values > MAX_VALUES || depth > MAX_DEPTH) return;
    if (typeof value !== 'object' || value === null) return;
    const before = this.values;
    const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    for (const each of inner) this.add(each, depth + 1);
    if (!Array.isArray(value)) return;
    const objects = inner.filter((each) => typeof each === 'object' && each !== null).length;
    const scalars = value.length ** 2 / SCALARS_PER_COMPARISON;
    this.comparisons = Math.max(
      this.comparisons,
      objects * (this.values - before) + Math.floor(scalars),
    );
  }
}
