import type { Document } from '../../src/core/chat/document.js';
import { textOf } from './knowledge.js';
import { Random } from './random.js';

/** Number of states of a source. */
export const STATES = 6;

/** A state of a source of some documents, with the number of its chunks in the metadata of each. */
export function stateOfSource(state: number): readonly Document[] {
  const random = new Random(1_000 + state);
  const documents: Document[] = [];
  for (let at = 0; at < 30; at++) {
    if (random.chance(0.3)) continue;
    const parts = 1 + random.below(4);
    const words = Array.from({ length: parts }, (_, part) => `w${random.below(3)}p${part}`);
    documents.push({ id: `d${at}`, text: textOf(...words), metadata: { parts } });
  }
  return documents;
}

/** Reasons why documents of a store are not whole: chunks that are missing, twice, or of another version. */
export function brokenDocuments(chunks: readonly Document[]): readonly string[] {
  const byDocument = new Map<unknown, Document[]>();
  for (const chunk of chunks) {
    const id = chunk.metadata?.['document'];
    byDocument.set(id, [...(byDocument.get(id) ?? []), chunk]);
  }
  return [...byDocument].flatMap(([id, all]) => {
    const numbers = all
      .map(({ metadata }) => Number(metadata?.['chunk']))
      .toSorted((a, b) => a - b);
    const hashes = new Set(all.map(({ metadata }) => metadata?.['documentHash']));
    const parts = Number(all[0]?.metadata?.['parts']);
    const isWhole = numbers.length === parts && numbers.every((number, at) => number === at);
    return isWhole && hashes.size === 1 ? [] : [`${String(id)}: ${numbers.join()} of ${parts}`];
  });
}
