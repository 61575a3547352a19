import type { Document } from '../../src/core/chat/document.js';
import { matchesFilter } from '../../src/stores/vectors/filter.js';
import type { DocumentRetriever, Query } from '../../src/knowledge/query.js';

/** Finds documents that have a word of the query, of four letters or more, and counts its searches. */
export class WordRetriever implements DocumentRetriever {
  readonly queries: Query[] = [];

  constructor(
    private readonly namespaces: Readonly<Record<string, readonly Document[]>>,
    readonly name = 'handbook',
  ) {}

  async retrieve(query: Query): Promise<readonly Document[]> {
    this.queries.push(query);
    const words = query.text.toLowerCase().match(/\w{4,}/g) ?? [];
    const { filter = {} } = query;
    const all = this.namespaces[query.namespace] ?? [];
    const accepted = all.filter(({ metadata = {} }) => matchesFilter(filter, metadata));
    const found = accepted.map((document) => {
      const text = document.text.toLowerCase();
      return { ...document, score: words.filter((word) => text.includes(word)).length };
    });
    return found.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
  }
}

export const REFUNDS: Document = {
  id: 'handbook#3',
  text: 'A refund takes 14 days. Gift cards are not refunded.',
  metadata: {
    document: 'handbook',
    chunk: 3,
    start: 100,
    end: 152,
    page: 7,
    title: 'Refunds',
    url: 'https://shop.example/refunds',
  },
};
export const SHIPPING: Document = { id: 'shipping', text: 'Shipping is free above 50 euros.' };
