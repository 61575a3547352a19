import { Validator, type OutputUnit, type Schema } from '@cfworker/json-schema';
import type { JsonSchema } from '../chat/tool-definition.js';
import { CheckSteps } from './check-steps.js';

/** Steps for one schema and one value, which take this validator as long as many sure checks. */
const STEPS = 40;
/** Steps for many comparisons of list items. */
const STEPS_OF_COMPARISONS = 20;
/** Comparisons of list items that take the time of one step. */
const COMPARISONS_PER_STEP = 100;
/** Comparisons of texts or numbers that take the time of one comparison of objects. */
const SCALARS_PER_COMPARISON = 5;
/** Values beyond are not counted. */
const MAX_VALUES = 200_000;
const MAX_DEPTH = 200;

/**
 * Finds the errors of a value, and gives up after a number of steps: the validator evaluates every
 * alternative again on each level, so that a recursive schema takes exponential time.
 */
export class BoundedValidator {
  private readonly validator: Validator;
  private steps = new CheckSteps(Infinity);
  /** Steps of one `uniqueItems`, which compares all items with each other. */
  private stepsOfUnique = 0;

  constructor(schema: JsonSchema) {
    const copy = structuredClone(schema);
    this.count(copy);
    this.validator = new Validator(copy as Schema, '2020-12', false);
  }

  /**
   * The errors, none for a valid value.
   * @throws {@link EXCEEDED}
   */
  validate(value: unknown, steps: CheckSteps): readonly OutputUnit[] {
    const size = new Size();
    size.add(value, 0);
    this.steps = steps;
    this.stepsOfUnique = Math.ceil(size.comparisons / COMPARISONS_PER_STEP);
    return this.validator.validate(value).errors;
  }

  /** Counts each use of a schema: the validator reads `$recursiveAnchor` whenever it applies one. */
  private count(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const inner of Object.values(value)) this.count(inner);
    if (Array.isArray(value)) return;
    const { $recursiveAnchor: anchor, uniqueItems } = value as JsonSchema;
    const comparesItems = Boolean(uniqueItems);
    const steps = STEPS + lengthOf(value as JsonSchema);
    Object.defineProperty(value, '$recursiveAnchor', {
      enumerable: Object.hasOwn(value, '$recursiveAnchor'),
      get: () => {
        this.steps.take(comparesItems ? steps + STEPS_OF_COMPARISONS * this.stepsOfUnique : steps);
        return anchor;
      },
    });
  }
}

/** Number of names and constants of a schema, all of which it may compare with a value. */
function lengthOf(schema: JsonSchema): number {
  return Object.values(schema).reduce<number>((sum, each) => {
    if (typeof each !== 'object' || each === null) return sum;
    const size = new Size();
    if (Array.isArray(each)) size.add(each, 0);
    return sum + Object.keys(each).length + size.values;
  }, 0);
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
