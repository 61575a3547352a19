import { checkRecall } from '../../support/keyword-recall.js';
import { requireToolsets } from '../../support/toolsets.js';

describe('KeywordToolIndex with 527 published tools', () => {
  before(function () {
    requireToolsets(this);
  });

  for (const [queries, recorded] of [
    ['livemcp-steps', 74.1],
    ['livemcp', 37.5],
  ] as const)
    it(`has recall@5 of ${recorded} % for ${queries}`, async () => {
      await checkRecall(queries, 'livemcp', recorded);
    });
});
