import type { Evaluator } from './evaluator.js';
import { judgeBy, type JudgeOptions } from './judge.js';

const TASK = `You evaluate an answer to a question, which was written from documents. It passes if it answers the question and is in line with the documents: nothing in it contradicts them. Without documents, it passes if it answers the question.`;

/**
 * Evaluates by a model if an answer answers its question in line with the documents. An empty answer
 * fails without a call.
 *
 * The evaluator rejects with {@link StructuredOutputError} for an unusable verdict, the error of the
 * model, or {@link CancelledError}.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function relevancyEvaluator(options: JudgeOptions): Evaluator {
  return judgeBy(
    {
      name: 'relevancyEvaluator',
      task: TASK,
      lines: ({ documents, question, answer }) => [
        ...documents.map(({ text }) => ({ document: text })),
        { question },
        { answer },
      ],
      problem: ({ answer }) => (answer.trim() === '' ? 'The answer is empty.' : undefined),
    },
    options,
  );
}
