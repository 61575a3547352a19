import { ModelCallError } from '../../src/index.js';
import type { ScriptedAnswer } from '../../src/testing/index.js';
import type { Random } from './random.js';
import { callOf } from './tool-page.js';

/** A turn with the tools of {@link ToolPage}. */
export interface RandomTurn {
  readonly answers: readonly ScriptedAnswer[];
  /** Names of the tools that the standing answers call, in order. */
  readonly called: readonly string[];
  /** The text of the answers that stand. */
  readonly text: string;
}

/** Answers of a turn, of which some break off and are asked for again. */
export function anyTurn(random: Random): RandomTurn {
  const answers: ScriptedAnswer[] = [];
  const called: string[] = [];
  let text = '';
  const error = new ModelCallError('down', { status: 503, retryable: true });
  const iterations = random.below(4);
  for (let at = 0; at <= iterations; at++) {
    const isLast = at === iterations;
    const reasoning = random.chance(0.3) ? { reasoning: 'Hm.' } : {};
    if (random.chance(0.3))
      answers.push({ ...reasoning, text: 'half', deltas: ['ha', 'lf'], error });
    if (random.chance(0.2))
      answers.push({ text: 'half', toolCalls: [callOf(`void-${at}`, 'look')], error });
    const own = isLast || random.chance(0.7) ? `t${at} ` : '';
    const toolCalls = Array.from({ length: isLast ? 0 : 1 + random.below(3) }, (_, count) => {
      const name = random.pick(['locate', 'open', 'look', 'pay']);
      called.push(name);
      return callOf(`c${at}-${count}`, name, name === 'open' ? { n: count } : {});
    });
    answers.push({ text: own, ...(!isLast && { toolCalls }) });
    text += own;
  }
  return { answers, called, text };
}
