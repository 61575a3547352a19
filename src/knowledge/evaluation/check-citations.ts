import type { Citation } from '../../core/chat/citation.js';
import type { Document } from '../../core/chat/document.js';
import type { EvaluationInput } from './evaluator.js';
import { hasWords, quotationsIn, toPlain } from './quotations.js';
import { sentencesAt, sentencesOf, type Sentence } from './sentences.js';

/**
 * The reason that a citation or a sentence counts for nothing: it cites no document; no document of the
 * answer is the cited one; the document does not have the words that are quoted from it.
 */
export type CitationProblem = 'no-citation' | 'unknown-document' | 'quote-not-found';

/** A citation with the document that it is of. */
export interface CheckedCitation {
  readonly citation: Citation;
  /** Undefined if there is none. */
  readonly document: Document | undefined;
  /** Undefined if the citation can be confirmed. */
  readonly problem: Exclude<CitationProblem, 'no-citation'> | undefined;
}

/** A sentence of an answer, and what confirms it. */
export interface CheckedSentence extends Sentence {
  /** Undefined if the sentence cites a document, which has all that it quotes. */
  readonly problem: CitationProblem | undefined;
}

/** The result of {@link checkCitations}. */
export interface CitationReport {
  /** Share of the sentences without a problem, from 0 to 1; 0 without a sentence. */
  readonly score: number;
  readonly sentences: readonly CheckedSentence[];
  readonly citations: readonly CheckedCitation[];
}

/**
 * Checks the citations of an answer against the documents that it was made from, without a model: that
 * each sentence cites one of them, and that what is quoted is in it, in any case and with any white
 * space. Whether a document supports words that are not quoted is a question for a
 * {@link factCheckingEvaluator}.
 */
export function checkCitations(
  input: Pick<EvaluationInput, 'answer' | 'documents' | 'citations'>,
): CitationReport {
  const { answer, documents, citations = [] } = input;
  const sources = documents.map((document) => ({ document, plain: toPlain(document.text) }));
  const checked = citations.map((citation) => checkCitation(citation, sources));
  const found = sentencesOf(answer);
  const bySentence = new Map<Sentence, Checked[]>(found.map((sentence) => [sentence, []]));
  for (const each of checked)
    for (const sentence of sentencesAt(found, each.citation)) bySentence.get(sentence)?.push(each);
  const sentences = [...bySentence].map(([sentence, own]): CheckedSentence => {
    return { ...sentence, problem: problemOf(sentence, own) };
  });
  const confirmed = sentences.filter(({ problem }) => problem === undefined);
  return {
    score: confirmed.length / (sentences.length || 1),
    sentences,
    citations: checked.map(({ source, ...each }) => ({ ...each, document: source?.document })),
  };
}

/** A document with its text in the form in which texts are compared. */
interface SourceText {
  readonly document: Document;
  readonly plain: string;
}

interface Checked extends Omit<CheckedCitation, 'document'> {
  readonly source: SourceText | undefined;
}

function checkCitation(citation: Citation, sources: readonly SourceText[]): Checked {
  const { text: quote } = citation;
  const source = sources.find((each) => isOf(citation, each));
  if (!source) return { citation, source, problem: 'unknown-document' };
  const isQuoted = quote === undefined || hasWords(source.plain, quote);
  return { citation, source, problem: isQuoted ? undefined : 'quote-not-found' };
}

/** By the id of the document, or else its address, title, or words: providers know no ids. */
function isOf(citation: Citation, { document: found, plain }: SourceText): boolean {
  const { document, url, title, text: quote } = citation;
  const { id, metadata = {} } = found;
  if (document) return document.id === id;
  if (url !== undefined) return metadata['url'] === url;
  if (title !== undefined) return metadata['title'] === title;
  return quote !== undefined && hasWords(plain, quote);
}

function problemOf(sentence: Sentence, citations: readonly Checked[]): CitationProblem | undefined {
  const [first] = citations;
  if (!first) return 'no-citation';
  const confirmed = citations.filter(({ problem }) => problem === undefined);
  const texts = [...new Set(confirmed.flatMap(({ source }) => source ?? []))];
  if (texts.length === 0) return first.problem;
  const isQuoted = (quote: string): boolean => texts.some(({ plain }) => hasWords(plain, quote));
  return quotationsIn(sentence.text).every(isQuoted) ? undefined : 'quote-not-found';
}
