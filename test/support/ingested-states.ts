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

/** Documents of every state: no ingest deletes them, so they are visible from the end of the first one. */
function steadyDocuments(): readonly string[] {
  const [first = [], ...others] = Array.from({ length: STATES }, (_, state) =>
    stateOfSource(state).map(({ id }) => id),
  );
  return first.filter((id) => others.every((ids) => ids.includes(id)));
}

const STEADY = steadyDocuments();

/**
 * Reasons why documents of a store, after the first ingest, are lost or not whole: chunks that are missing,
 * twice, or of another version.
 */
export function brokenDocuments(chunks: readonly Document[]): readonly string[] {
  const byDocument = new Map<unknown, Document[]>();
  for (const chunk of chunks) {
    const id = chunk.metadata?.['document'];
    byDocument.set(id, [...(byDocument.get(id) ?? []), chunk]);
  }
  const lost = STEADY.filter((id) => !byDocument.has(id)).map((id) => `${id}: lost`);
  const torn = [...byDocument].flatMap(([id, all]) => {
    const numbers = all
      .map(({ metadata }) => Number(metadata?.['chunk']))
      .toSorted((a, b) => a - b);
    const hashes = new Set(all.map(({ metadata }) => metadata?.['documentHash']));
    const parts = Number(all[0]?.metadata?.['parts']);
    const isWhole = numbers.length === parts && numbers.every((number, at) => number === at);
    return isWhole && hashes.size === 1 ? [] : [`${String(id)}: ${numbers.join()} of ${parts}`];
  });
  return [...lost, ...torn];
}
