import type { DocumentMetadata, MetadataValue, Scalar } from '../../core/chat/document.js';
import { compareTexts } from './compare-texts.js';
import { conditionOf, type Condition } from './condition.js';

/**
 * A condition on the metadata of documents, as data. All its fields must hold, and a filter without
 * fields accepts every document: a value means equality, and `and`, `or` and `not` combine filters, as in
 * `{ lang: 'en', year: { gte: 2020 }, not: { draft: true } }`. The names `and`, `or` and `not` are
 * therefore no keys of metadata.
 *
 * Values are equal if they have the same type and value; a list is equal to no single value. Texts are
 * in the order of their code points. A missing value, and one of another type, is equal to none, and
 * neither lower nor greater, so that it fails every comparison but `ne` and `nin`. Filters are refused
 * that are nested deeper than 32 levels, have more than 500 comparisons, or have an undefined value: to
 * ignore it would accept more than was meant.
 */
export interface Filter {
  readonly and?: readonly Filter[] | undefined;
  /** An empty list accepts nothing. */
  readonly or?: readonly Filter[] | undefined;
  readonly not?: Filter | undefined;
  readonly [key: string]: Scalar | Comparison | Filter | readonly Filter[] | undefined;
}

/** Comparisons of one metadata value: at least one, and all of them must hold. */
export interface Comparison {
  readonly eq?: Scalar | undefined;
  readonly ne?: Scalar | undefined;
  readonly gt?: string | number | undefined;
  readonly gte?: string | number | undefined;
  readonly lt?: string | number | undefined;
  readonly lte?: string | number | undefined;
  /** An empty list accepts nothing. */
  readonly in?: readonly Scalar[] | undefined;
  readonly nin?: readonly Scalar[] | undefined;
  /** The metadata value is a list with this element. */
  readonly contains?: Scalar | undefined;
}

/** Returns whether a filter accepts a document with this metadata. */
export type FilterMatcher = (metadata: DocumentMetadata | undefined) => boolean;

/**
 * Checks a filter before it is used.
 * @param where what the filter is given to, for the message of the error
 * @throws {@link InvalidArgumentError} with the path of the first part that is no filter
 */
export function checkFilter(where: string, filter: Filter): void {
  conditionOf(where, filter);
}

/**
 * Returns whether a filter accepts a document with this metadata; {@link filterMatcher} is faster for many.
 * @throws {@link InvalidArgumentError} for a value that is no filter
 */
export function matchesFilter(filter: Filter, metadata: DocumentMetadata | undefined): boolean {
  return filterMatcher('matchesFilter', filter)(metadata);
}

/**
 * Checks a filter once, for many documents.
 * @throws {@link InvalidArgumentError} for a value that is no filter
 */
export function filterMatcher(where: string, filter: Filter): FilterMatcher {
  return matcherOf(conditionOf(where, filter));
}

/** The matcher of a condition. */
export function matcherOf(condition: Condition): FilterMatcher {
  switch (condition.type) {
    case 'all': {
      const matchers = condition.conditions.map(matcherOf);
      return (metadata) => matchers.every((matches) => matches(metadata));
    }
    case 'any': {
      const matchers = condition.conditions.map(matcherOf);
      return (metadata) => matchers.some((matches) => matches(metadata));
    }
    case 'not': {
      const matches = matcherOf(condition.condition);
      return (metadata) => !matches(metadata);
    }
    default: {
      const accepts = valueMatcherOf(condition);
      const { key } = condition;
      // own fields only: every object inherits a `constructor`
      return (metadata) =>
        metadata !== undefined && Object.hasOwn(metadata, key) && accepts(metadata[key]);
    }
  }
}

type ValueMatcher = (value: MetadataValue | undefined) => boolean;

function valueMatcherOf(
  condition: Exclude<Condition, { type: 'all' | 'any' | 'not' }>,
): ValueMatcher {
  switch (condition.type) {
    case 'in': {
      const values = new Set<unknown>(condition.values);
      return (value) => values.has(value);
    }
    case 'contains': {
      const { value: element } = condition;
      return (value) => Array.isArray(value) && value.includes(element);
    }
    case 'gt':
      return orderMatcher(condition.value, (order) => order > 0);
    case 'gte':
      return orderMatcher(condition.value, (order) => order >= 0);
    case 'lt':
      return orderMatcher(condition.value, (order) => order < 0);
    case 'lte':
      return orderMatcher(condition.value, (order) => order <= 0);
  }
}

function orderMatcher(bound: string | number, accepts: (order: number) => boolean): ValueMatcher {
  if (typeof bound === 'number')
    return (value) =>
      typeof value === 'number' && accepts(value < bound ? -1 : Number(value > bound));
  return (value) => typeof value === 'string' && accepts(compareTexts(value, bound));
}
