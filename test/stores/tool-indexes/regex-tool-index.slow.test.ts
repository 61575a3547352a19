import { expect } from 'chai';
import { RegexToolIndex } from '../../../src/index.js';
import type { ToolReference } from '../../../src/stores/tool-indexes/tool-index.js';
import { ATTACK_QUERIES, isAnswered, randomTools } from '../../support/patterns.js';
import { tool } from '../../support/tool-index-laws.js';
import { readTools, requireToolsets } from '../../support/toolsets.js';

/** Maximum CPU time in milliseconds: 50 ms on an idle machine, with room for a busy one. */
const MAX_TIME = 250;

const CATALOGUES: Readonly<Record<string, () => readonly ToolReference[]>> = {
  '527 published tools': () => readTools('livemcp'),
  '527 tools of a thousand characters': () => randomTools(527, 1_000),
  'tools of one letter': () =>
    [1, 10, 100, 10_000, 100_000].map((count) => tool('a'.repeat(count), 'e'.repeat(count))),
};

describe('RegexToolIndex under attack', function () {
  this.timeout(60_000);

  for (const [catalogue, create] of Object.entries(CATALOGUES))
    it(`[F85] answers or rejects each query at once over ${catalogue}`, async function () {
      if (catalogue.includes('published')) requireToolsets(this);
      const index = new RegexToolIndex();
      index.index({ session: 's', references: create() });
      await isAnswered(index, 'warm up|.*');

      const times: { query: string; time: number }[] = [];
      for (const query of ATTACK_QUERIES)
        times.push({ query, time: await cpuTimeOf(index, query) });

      const [longest] = times.sort((a, b) => b.time - a.time);
      console.log(`      longest ${longest?.time.toFixed(1)} ms: ${longest?.query.slice(0, 40)}`);
      expect(longest?.time).to.be.lessThan(MAX_TIME);
    });
});

/** The shorter of two times: garbage of other tests may be collected during one. */
async function cpuTimeOf(index: RegexToolIndex, query: string): Promise<number> {
  return Math.min(await timeOnce(index, query), await timeOnce(index, query));
}

async function timeOnce(index: RegexToolIndex, query: string): Promise<number> {
  const start = process.cpuUsage();
  await isAnswered(index, query);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}
