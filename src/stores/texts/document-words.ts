import type { Document } from '../../core/chat/document.js';
import { DOCUMENT_RANKING } from './document-ranking.js';
import type { TextAnalyser } from './text-analyser.js';

/** The words of a document. */
export interface DocumentWords {
  /** Number of occurrences of each word; those in the title count several times. */
  readonly occurrences: ReadonlyMap<string, number>;
  /** Sum of the occurrences. */
  readonly length: number;
}

/** Reads the words of a text, and of the `title` and the `headings` in its metadata. */
export function wordsOfDocument(
  { text, metadata }: Document,
  analyser: TextAnalyser,
): DocumentWords {
  const occurrences = new Map<string, number>();
  let length = 0;
  const add = (part: string, times: number): void =>
    analyser.forEachWord(part, (word) => {
      occurrences.set(word, (occurrences.get(word) ?? 0) + times);
      length += times;
    });
  add(text, 1);
  for (const part of [metadata?.['title'], metadata?.['headings']].flat())
    if (typeof part === 'string') add(part, DOCUMENT_RANKING.title);
  return { occurrences, length };
}
