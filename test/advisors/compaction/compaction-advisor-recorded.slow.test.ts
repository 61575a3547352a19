import { expect } from 'chai';
import type { CompactionAdvisorOptions, Prompt } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { jsonList, loadCassettes } from '../../support/cassettes.js';
import { brokenPair, longTurn, prefixChanges, tokensOf } from '../../support/compacted-turn.js';
import { MODES } from '../../support/modes.js';

const MAX = 8_000;
const ITERATIONS = 200;

/** Sizes of the results of tools in the recordings, in an order that spreads the large ones. */
function recordedSizes(test: Mocha.Context): readonly number[] {
  const sizes = loadCassettes(test).flatMap(({ interactions }) => {
    const results = new Map<unknown, number>();
    for (const { request } of interactions)
      for (const { role, tool_call_id: id, content } of jsonList(request.body?.['messages']))
        if (role === 'tool')
          results.set(id, (typeof content === 'string' ? content : JSON.stringify(content)).length);
    return [...results.values()];
  });
  const step = 97; // no common factor with the number of sizes
  return sizes.map((_, at) => sizes[(at * step) % sizes.length] as number);
}

/** Tokens of a request by another tokenizer than the advisor's. */
const ratio = 1.35;

describe('CompactionAdvisor with results of recorded sizes', function () {
  this.timeout(120_000);
  const summaries = new ScriptedChatModel(() => 'The pages are full of x.');
  const settings: Readonly<Record<string, CompactionAdvisorOptions>> = {
    'a model for summaries': { maxTokens: MAX, model: summaries },
    'no model': { maxTokens: MAX },
  };

  for (const mode of MODES)
    for (const [name, options] of Object.entries(settings))
      for (const factor of [1, 4, 10])
        it(`${mode}: ${ITERATIONS} iterations, ${name}, ${factor} times the sizes: no request over ${MAX} tokens, no broken pair, 1 prefix change per 10 iterations at most`, async function () {
          const recorded = recordedSizes(this);
          const sizes = Array.from(
            { length: ITERATIONS },
            (_, at) => factor * (recorded[at % recorded.length] as number),
          );
          const report = (prompt: Prompt): number => Math.round(tokensOf(prompt) * ratio);

          const { prompts, reports, response } = await longTurn(mode, sizes, options, { report });

          const largest = Math.max(...prompts.map(report));
          const changes = prefixChanges(prompts);
          const whole = Math.round((ratio * sizes.reduce((sum, size) => sum + size, 0)) / 4);
          const strategies = reports.map((each) => each.strategies.join('+')).join(' ');
          console.log(
            `      results of ${whole} tokens, requests of ${largest} at most, ${changes} prefix changes: ${strategies}`,
          );
          expect(response?.text).to.equal('Done.');
          expect(prompts).to.have.length(ITERATIONS + 1);
          expect(largest).to.be.at.most(MAX);
          expect(brokenPair(prompts)).to.equal(undefined);
          expect(changes).to.be.at.most(ITERATIONS / 10);
        });
});
