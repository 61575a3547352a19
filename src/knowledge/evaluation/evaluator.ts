import type { Document } from '../../core/chat/document.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { Citation } from '../../core/chat/citation.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { isPlainObject } from '../../core/internal/options.js';

/** An answer, with what it was made from. */
export interface EvaluationInput {
  readonly question: string;
  readonly answer: string;
  /** The documents that the model had. */
  readonly documents: readonly Document[];
  /** The sources that the answer cites. @default none */
  readonly citations?: readonly Citation[] | undefined;
  /** Ends the evaluation; of a run, its ledger has the calls of the model that judges. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of an {@link Evaluator}. */
export interface Evaluation {
  readonly pass: boolean;
  /** From 0 to 1. */
  readonly score: number;
  /** The reason, for people. */
  readonly feedback: string;
}

/** Evaluates an answer, in any test runner. A rejection is neither a pass nor a fail. */
export type Evaluator = (input: EvaluationInput) => Promise<Evaluation>;

/**
 * The input for an answer of a chain that retrieves: its text, `metadata.documents` and citations.
 * @throws {@link InvalidArgumentError} if the response has no documents in its metadata
 */
export function evaluationInput(question: string, response: ChatResponse): EvaluationInput {
  const documents: unknown = response.metadata?.['documents'];
  if (!Array.isArray(documents) || !documents.every(isDocument))
    throw new InvalidArgumentError(
      'evaluationInput: the response has no `metadata.documents`; is there a RetrievalAdvisor in its chain?',
    );
  const { text, citations } = response;
  return { question, answer: text ?? '', documents, citations };
}

function isDocument(value: unknown): value is Document {
  return (
    isPlainObject(value) && typeof value['id'] === 'string' && typeof value['text'] === 'string'
  );
}
