import { AdvisorContext } from '../../src/index.js';
import type { Document, Query } from '../../src/knowledge/index.js';

/** A query of the namespace `docs` without a history. */
export function queryOf(text: string, fields: Partial<Query> = {}): Query {
  const signal = new AbortController().signal;
  return { text, namespace: 'docs', history: [], context: AdvisorContext.empty, signal, ...fields };
}

export const idsOf = (documents: readonly Document[]): readonly string[] =>
  documents.map(({ id }) => id);
