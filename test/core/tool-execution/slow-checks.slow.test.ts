import { expect } from 'chai';
import { defineTool } from '../../../src/index.js';
import { runBatch } from '../../support/batch.js';

/** Alternatives that the check tries for each item. */
const input = {
  type: 'object',
  properties: {
    list: {
      type: 'array',
      items: { oneOf: Array.from({ length: 100 }, (_, at) => ({ const: -at })) },
    },
  },
};

describe('a batch of calls with arguments that take all steps of a check', () => {
  it('[D43] lets the process answer others between two calls', async () => {
    const tool = defineTool({ name: 'tool', input, execute: () => 'ran' });
    const args = { list: Array.from({ length: 100_000 }, (_, at) => at + 1) };
    const calls = Array.from({ length: 20 }, () => ({ name: 'tool', args }));
    let turns = 0;
    const counter = setInterval(() => turns++, 0);

    const { results } = await runBatch([tool], calls);

    clearInterval(counter);
    expect(results.every(({ result }) => result.isError)).to.equal(true);
    expect(turns).to.be.at.least(3);
  });
});
