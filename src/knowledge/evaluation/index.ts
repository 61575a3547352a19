export type { Citation } from '../../core/chat/citation.js';
export type { Document } from '../../core/chat/document.js';
export {
  checkCitations,
  type CheckedCitation,
  type CheckedSentence,
  type CitationProblem,
  type CitationReport,
} from './check-citations.js';
export {
  evaluationInput,
  type Evaluation,
  type EvaluationInput,
  type Evaluator,
} from './evaluator.js';
export { factCheckingEvaluator } from './fact-checking-evaluator.js';
export { groundednessEvaluator, type GroundednessOptions } from './groundedness-evaluator.js';
export type { JudgeOptions } from './judge.js';
export { relevancyEvaluator } from './relevancy-evaluator.js';
