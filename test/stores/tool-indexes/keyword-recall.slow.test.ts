import { expect } from 'chai';
import { checkRecall } from '../../support/keyword-recall.js';
import { requireToolsets } from '../../support/toolsets.js';

/** Questions, which are also the name of their catalogue, with their recorded recall@5 in percent. */
const LARGE_SETS = [
  ['bfcl-live', 86.8],
  ['bfcl-v1', 93.6],
  ['seal', 93.5],
] as const;
const MIN_MEAN = 91;

describe('KeywordToolIndex with large sets of published tools', function () {
  this.timeout(120_000);
  const recalls: number[] = [];

  before(function () {
    requireToolsets(this);
    console.log('      recall at 1, 5, 10 and mean reciprocal rank, in percent:');
  });

  for (const [set, recorded] of LARGE_SETS)
    it(`has recall@5 of ${recorded} % for ${set}`, async () => {
      recalls.push(await checkRecall(set, set, recorded));
    });

  it(`has recall@5 of ${MIN_MEAN} % on average`, () => {
    const mean = recalls.reduce((sum, recall) => sum + recall, 0) / LARGE_SETS.length;

    expect(mean).to.be.at.least(MIN_MEAN);
  });
});
