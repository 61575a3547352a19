import { judgedText, type UntrustedText } from '../../src/core/advisor/untrusted-text.js';
import type { Document } from '../../src/core/chat/document.js';
import { labelsOf, withoutLabels } from './source.js';

/**
 * The documents as the guards of the run let them pass: one that is withheld is left out, and titles
 * and other labels that a guard would change are removed.
 * @throws the error of a guard that ends the turn
 */
export async function judgedDocuments(
  documents: readonly Document[],
  place: Omit<UntrustedText, 'text'>,
): Promise<readonly Document[]> {
  const judged = await Promise.all(documents.map((document) => judgedDocument(document, place)));
  return judged.filter((document) => document !== undefined);
}

async function judgedDocument(
  document: Document,
  place: Omit<UntrustedText, 'text'>,
): Promise<Document | undefined> {
  const text = await judgedText({ ...place, text: document.text });
  if (text === undefined) return undefined;
  const labels = Object.values(labelsOf(document)).flat().join('\n');
  const isClean = labels === '' || (await judgedText({ ...place, text: labels })) === labels;
  const own = isClean ? document : withoutLabels(document);
  return text === own.text ? own : { ...own, text };
}
