import type { Document } from '../../core/chat/document.js';
import { compareTexts } from './compare-texts.js';
import type { CheckedListQuery } from './document-checks.js';
import { matcherOf } from './filter.js';

/** The documents of a namespace in memory. */
export interface ListedDocuments {
  /** Ids in ascending order. */
  sortedIds(): readonly string[];
  get(id: string): Document | undefined;
}

/** A page of documents: a list of all pages reads each document once. */
export function pageOf(
  documents: ListedDocuments,
  { condition, after, limit }: CheckedListQuery,
): readonly Document[] {
  const matches = condition && matcherOf(condition);
  const ids = documents.sortedIds();
  const page: Document[] = [];
  for (let at = after === undefined ? 0 : placeAfter(ids, after); at < ids.length; at++) {
    if (page.length >= limit) break;
    const document = documents.get(ids[at] as string);
    if (document && (!matches || matches(document.metadata))) page.push(document);
  }
  return page;
}

/** The place of the first id after another one. */
function placeAfter(ids: readonly string[], after: string): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareTexts(ids[middle] as string, after) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
