import type { Evaluator } from './evaluator.js';
import { judgeBy, type JudgeOptions } from './judge.js';

const TASK = `You check a claim against documents. It passes if the documents support all that it states. It does not pass if they contradict a part of it, or do not mention it, even if you know that it is true.`;

/**
 * Evaluates by a model if documents support all that an answer states, whatever its question. An empty
 * answer, and one without documents, fails without a call.
 *
 * The evaluator rejects with {@link StructuredOutputError} for an unusable verdict, the error of the
 * model, or {@link CancelledError}.
 * @throws {@link InvalidArgumentError} if an option is invalid
 */
export function factCheckingEvaluator(options: JudgeOptions): Evaluator {
  return judgeBy(
    {
      name: 'factCheckingEvaluator',
      task: TASK,
      lines: ({ documents, answer }) => [
        ...documents.map(({ text }) => ({ document: text })),
        { claim: answer },
      ],
      problem: ({ answer, documents }) => {
        if (answer.trim() === '') return 'The answer is empty.';
        return documents.length === 0 ? 'There are no documents that support it.' : undefined;
      },
    },
    options,
  );
}
