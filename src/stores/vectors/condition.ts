import type { Scalar } from '../../core/chat/document.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { checkOption, rule } from '../../core/internal/options.js';
import { truncate } from '../../core/internal/text.js';
import { isScalar, isStorable, storable } from './storable.js';

/** A checked filter in a form with few cases, for matchers and for the dialects of SQL. */
export type Condition =
  | { readonly type: 'all' | 'any'; readonly conditions: readonly Condition[] }
  | { readonly type: 'not'; readonly condition: Condition }
  | { readonly type: 'in'; readonly key: string; readonly values: readonly Scalar[] }
  | { readonly type: 'contains'; readonly key: string; readonly value: Scalar }
  | {
      readonly type: 'gt' | 'gte' | 'lt' | 'lte';
      readonly key: string;
      readonly value: string | number;
    };

type Fields = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 32;
/** SQLite takes expressions of 1,000 levels, and a chain of ANDs has a level for each. */
const MAX_COMPARISONS = 500;
const OPERATORS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'contains'];

/**
 * The key that databases have an index for: a chunk has the id of its document in it, and an ingest
 * replaces the chunks of one document after the other.
 */
export const INDEXED_KEY = 'document';

/** The only value that a condition of the indexed key accepts, if it is a text. */
export function indexedText(condition: Condition): string | undefined {
  if (condition.type !== 'in' || condition.key !== INDEXED_KEY) return undefined;
  const [value, other] = condition.values;
  return typeof value === 'string' && other === undefined ? value : undefined;
}

/** Names of filters that are no keys of metadata. */
export function isCombination(key: string): boolean {
  return key === 'and' || key === 'or' || key === 'not';
}

const KEY = rule('a name without NUL and unpaired surrogates', isStorable);
const SCALAR_TEXT = 'a string, a finite number, true or false';
const SCALAR = rule(SCALAR_TEXT, isScalar);
const SCALAR_OR_COMPARISON = rule(`${SCALAR_TEXT}, or an object of comparisons`, isScalar);
const ORDERED = rule(
  'a string or a finite number',
  (value) => typeof value !== 'boolean' && isScalar(value),
);
const SCALARS = rule(
  'a list of strings, finite numbers, true and false',
  // a copy has no holes, which `every` would skip
  (values) => Array.isArray(values) && [...(values as unknown[])].every(isScalar),
);
const FILTER = rule('a filter: a plain object', isPlainData);
const FILTERS = rule('a list of filters', Array.isArray);

/**
 * Checks a filter.
 * @throws {@link InvalidArgumentError} with the path of the first part that is no filter
 */
export function conditionOf(where: string, filter: unknown, path = 'filter'): Condition {
  return new FilterReader(where).filter(filter, path, 1);
}

class FilterReader {
  private comparisons = 0;

  constructor(private readonly where: string) {}

  filter(filter: unknown, path: string, depth: number): Condition {
    checkOption(this.where, path, filter, FILTER);
    if (depth > MAX_DEPTH) throw this.refused(`a filter is nested deeper than ${MAX_DEPTH} levels`);
    const conditions: Condition[] = [];
    for (const [key, value] of Object.entries(filter as Fields)) {
      const inner = `${path}.${truncate(key, 60)}`;
      checkOption(this.where, `a key of ${path}`, key, KEY);
      if (key === 'not') conditions.push(not(this.filter(value, inner, depth + 1)));
      else if (key === 'and') conditions.push(this.filters('all', value, inner, depth));
      else if (key === 'or') conditions.push(this.filters('any', value, inner, depth));
      else this.comparison(key, value, inner, conditions);
    }
    return all(conditions);
  }

  private filters(type: 'all' | 'any', filters: unknown, path: string, depth: number): Condition {
    checkOption(this.where, path, filters, FILTERS);
    const list = Array.from(filters as readonly unknown[]);
    this.count(list.length);
    const conditions = list.map((each, at) => this.filter(each, `${path}[${at}]`, depth + 1));
    return { type, conditions };
  }

  private comparison(key: string, value: unknown, path: string, conditions: Condition[]): void {
    if (!isPlainData(value)) {
      checkOption(this.where, path, value, SCALAR_OR_COMPARISON);
      this.count(1);
      conditions.push({ type: 'in', key, values: [storable(value as Scalar)] });
      return;
    }
    const operators = Object.keys(value);
    this.count(operators.length);
    const unknown = operators.find((operator) => !OPERATORS.includes(operator));
    if (operators.length === 0 || unknown !== undefined)
      throw this.refused(
        `${path} must have comparisons of ${OPERATORS.join(', ')}, not ${unknown === undefined ? 'none' : JSON.stringify(truncate(unknown, 60))}`,
      );
    for (const operator of operators)
      conditions.push(this.operator(key, operator, value[operator], `${path}.${operator}`));
  }

  private operator(key: string, operator: string, value: unknown, path: string): Condition {
    switch (operator) {
      case 'in':
      case 'nin': {
        checkOption(this.where, path, value, SCALARS);
        const condition: Condition = { type: 'in', key, values: (value as Scalar[]).map(storable) };
        return operator === 'in' ? condition : not(condition);
      }
      case 'gt':
      case 'gte':
      case 'lt':
      case 'lte':
        checkOption(this.where, path, value, ORDERED);
        return { type: operator, key, value: storable(value as string | number) };
      default: {
        checkOption(this.where, path, value, SCALAR);
        if (operator === 'contains')
          return { type: operator, key, value: storable(value as Scalar) };
        const condition: Condition = { type: 'in', key, values: [storable(value as Scalar)] };
        return operator === 'eq' ? condition : not(condition);
      }
    }
  }

  private count(comparisons: number): void {
    this.comparisons += comparisons;
    if (this.comparisons > MAX_COMPARISONS)
      throw this.refused(`a filter has more than ${MAX_COMPARISONS} comparisons`);
  }

  private refused(problem: string): InvalidArgumentError {
    return new InvalidArgumentError(`${this.where}: ${problem}`);
  }
}

function not(condition: Condition): Condition {
  return { type: 'not', condition };
}

function all(conditions: readonly Condition[]): Condition {
  const [first, second] = conditions;
  return first && !second ? first : { type: 'all', conditions };
}

/** Instances of classes are refused: a Map has no fields, so it would accept every document. */
function isPlainData(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
