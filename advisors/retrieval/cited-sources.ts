import type { CitedDocument, Citation } from '../../src/core/chat/citation.js';
import { KEY, labelsOf, type Source } from './source.js';
import { findQuote, quoteBefore } from './quotes.js';

/** A citation of an answer that cannot be confirmed. */
export interface CitationProblem {
  /**
   * `unknown-source`: no document of the turn has the key; `ambiguous-source`: several have it;
   * `quote-not-found`: the documents that are cited for a quotation do not have its words.
   */
  readonly reason: 'unknown-source' | 'ambiguous-source' | 'quote-not-found';
  /** The key in the answer. */
  readonly key: string;
  /** The words in quotation marks. */
  readonly quote?: string;
  /** Offset of the citation in the answer. */
  readonly start: number;
}

/** The citations of an answer, each of a document, and those that cannot be confirmed. */
export interface CitedSources {
  readonly citations: readonly Citation[];
  readonly problems: readonly CitationProblem[];
}

/** Citations that stand side by side, such as `[s1a2b3c4][s5d6e7f8]`. */
interface Group {
  readonly start: number;
  end: number;
  readonly markers: { readonly start: number; readonly end: number; readonly keys: string[] }[];
}

const MARKER = /\[([^[\]\n]{8,400})\]/g;

/** Finds the citations of an answer, and the documents that they are of. */
export function citedSources(text: string, sources: readonly Source[]): CitedSources {
  const citations: Citation[] = [];
  const problems: CitationProblem[] = [];
  for (const group of groupsOf(text)) {
    const quote = quoteBefore(text, group.start);
    let isConfirmed = quote === undefined;
    for (const { start, end, keys } of group.markers)
      for (const key of keys) {
        const found = sources.filter((source) => source.key === key);
        const [source] = found;
        if (!source || found.length > 1) {
          problems.push({ reason: source ? 'ambiguous-source' : 'unknown-source', key, start });
          continue;
        }
        const place = quote === undefined ? undefined : findQuote(quote, source.text);
        if (place) isConfirmed = true;
        citations.push(toCitation(source, { start, end }, place));
      }
    const [first] = group.markers;
    const [key] = first?.keys ?? [];
    if (!isConfirmed && quote !== undefined && key !== undefined)
      problems.push({ reason: 'quote-not-found', key, quote, start: group.start });
  }
  return { citations, problems };
}

function groupsOf(text: string): readonly Group[] {
  const groups: Group[] = [];
  for (const { 0: marker, 1: inner = '', index: start } of text.matchAll(MARKER)) {
    const keys = inner.split(/[\s,;]+/).filter((each) => KEY.test(each));
    if (keys.length === 0) continue;
    const end = start + marker.length;
    const last = groups.at(-1);
    if (last && text.slice(last.end, start).trim() === '') {
      last.markers.push({ start, end, keys });
      last.end = end;
    } else groups.push({ start, end, markers: [{ start, end, keys }] });
  }
  return groups;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** @param quoted place of a quotation in the text of the source */
function toCitation(source: Source, place: Place, quoted: Place | undefined): Citation {
  const { url, title } = labelsOf(source);
  return {
    ...(typeof url === 'string' && { url }),
    ...(typeof title === 'string' && { title }),
    ...(quoted && { text: source.text.slice(quoted.start, quoted.end) }),
    ...place,
    document: toDocument(source, quoted),
  };
}

function toDocument(source: Source, quoted: Place | undefined): CitedDocument {
  const { key, id, text, metadata = {} } = source;
  const { document, chunk, page, start, end } = metadata;
  const isChunk = typeof start === 'number' && typeof end === 'number';
  // a text that was changed on its way has another length
  const isWhole = isChunk && end - start === text.length;
  const place = isChunk
    ? quoted && isWhole
      ? { start: start + quoted.start, end: start + quoted.end }
      : { start, end }
    : quoted;
  return {
    key,
    id,
    ...(typeof document === 'string' && { chunkOf: document }),
    ...(typeof chunk === 'number' && { chunk }),
    ...(typeof page === 'number' && { page }),
    ...place,
  };
}
