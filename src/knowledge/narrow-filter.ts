import { FUNCTION, PLAIN_OBJECT, rule } from '../core/internal/options.js';
import type { Filter } from '../stores/vectors/filter.js';
import type { Query } from './query.js';

/** A filter of a retriever, or a function that makes one for each query; undefined accepts all documents. */
export type QueryFilter = Filter | ((query: Query) => Filter | undefined);

export const QUERY_FILTER = rule(
  'a filter or a function',
  (value) => PLAIN_OBJECT.accepts(value) || FUNCTION.accepts(value),
);

/** The documents that both a query and its retriever accept: neither widens the other one. */
export function narrowFilter(query: Query, own: QueryFilter | undefined): Filter | undefined {
  const filter = typeof own === 'function' ? own(query) : own;
  if (!filter || !query.filter) return filter ?? query.filter;
  return { and: [query.filter, filter] };
}
