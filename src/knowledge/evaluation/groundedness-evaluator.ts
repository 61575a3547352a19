import { checkOptions, numberBetween } from '../../core/internal/options.js';
import { truncate } from '../../core/internal/text.js';
import { checkCitations, type CitationReport } from './check-citations.js';
import type { Evaluator } from './evaluator.js';

/** Options of {@link groundednessEvaluator}. */
export interface GroundednessOptions {
  /** Minimum share of sentences that cite a document, from 0 to 1. @default 1 */
  readonly minScore?: number | undefined;
}

const RULES = { minScore: numberBetween(0, 1) };
/** Sentences in the feedback, and characters of each. */
const MAX_SENTENCES = 5;
const MAX_LENGTH = 200;

/**
 * Evaluates by {@link checkCitations}, without a model, if the sentences of an answer cite documents
 * that have what they quote. The score is the share of these sentences; an answer without one fails.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function groundednessEvaluator(options: GroundednessOptions = {}): Evaluator {
  checkOptions('groundednessEvaluator', options, RULES);
  const { minScore = 1 } = options;
  return async (input) => {
    const report = checkCitations(input);
    const pass = report.score > 0 && report.score >= minScore;
    return { pass, score: report.score, feedback: feedbackOf(report) };
  };
}

function feedbackOf({ sentences }: CitationReport): string {
  if (sentences.length === 0) return 'The answer has no sentence.';
  const open = sentences.filter(({ problem }) => problem !== undefined);
  const confirmed = sentences.length - open.length;
  const shown = open
    .slice(0, MAX_SENTENCES)
    .map(({ text, problem }) => `${problem}: ${JSON.stringify(truncate(text.trim(), MAX_LENGTH))}`);
  return [`${confirmed} of ${sentences.length} sentences are confirmed.`, ...shown].join('\n');
}
