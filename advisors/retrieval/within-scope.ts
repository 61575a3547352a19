import type { Query } from '../../src/knowledge/query.js';

/**
 * A query that a transformer or an expander has made, within the scope of the question: its namespace
 * is the question's, and a filter of its own narrows the question's.
 */
export function withinScope(query: Query, question: Query): Query {
  const { namespace, filter, context, signal } = question;
  const own = query.filter;
  if (own === filter || own === undefined) return { ...query, namespace, filter, context, signal };
  const both = filter === undefined ? own : { and: [filter, own] };
  return { ...query, namespace, filter: both, context, signal };
}
