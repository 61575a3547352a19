import { expect } from 'chai';
import { InvalidArgumentError } from '../../src/index.js';
import { limitTokens, minimumScore, type Document } from '../../src/knowledge/index.js';
import { idsOf, queryOf } from '../support/queries.js';

const QUERY = queryOf('Where is Rome?');
const found = (id: string, score?: number): Document => ({ id, text: id, score });
/** Documents with texts of these lengths, whose ids are the lengths. */
const ofLengths = (...lengths: number[]): readonly Document[] =>
  lengths.map((length) => ({ id: `${length}`, text: 'x'.repeat(length) }));

describe('minimumScore', () => {
  it('keeps documents with at least the score, in their order', async () => {
    const documents = [found('a', 0.5), found('b', 0.49), found('c', 0.9)];

    expect(idsOf(await minimumScore(0.5)(documents, QUERY))).to.deep.equal(['a', 'c']);
  });

  it('counts a missing score as 0', async () => {
    const documents = [found('a'), found('b', -0.1)];

    expect(idsOf(await minimumScore(0)(documents, QUERY))).to.deep.equal(['a']);
    expect(await minimumScore(0.1)(documents, QUERY)).to.deep.equal([]);
  });

  for (const minimum of [NaN, Infinity, '0.5'])
    it(`refuses ${minimum}`, () => {
      expect(() => minimumScore(minimum as number)).to.throw(InvalidArgumentError);
    });
});

describe('limitTokens', () => {
  it('keeps documents while their texts fit, four characters a token', async () => {
    const kept = await limitTokens({ maxTokens: 10 })(ofLengths(20, 16, 8, 4), QUERY);

    expect(idsOf(kept)).to.deep.equal(['20', '16', '4']);
  });

  it('leaves out a document that does not fit, not those after it', async () => {
    const kept = await limitTokens({ maxTokens: 10 })(ofLengths(400, 16, 400, 8), QUERY);

    expect(idsOf(kept)).to.deep.equal(['16', '8']);
  });

  it('counts by a function', async () => {
    const limit = limitTokens({ maxTokens: 10, tokenCounter: ({ length }) => length });

    expect(idsOf(await limit(ofLengths(6, 5, 4), QUERY))).to.deep.equal(['6', '4']);
  });

  for (const count of [NaN, -1, '3'])
    it(`refuses ${count} as a count`, () => {
      const limit = limitTokens({ maxTokens: 10, tokenCounter: () => count as number });

      expect(() => limit(ofLengths(1), QUERY)).to.throw(
        InvalidArgumentError,
        'limitTokens: the result of tokenCounter must be a number >= 0',
      );
    });

  for (const options of [{}, { maxTokens: 0 }, { maxTokens: 1, tokenCounter: 4 }])
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => limitTokens(options as never)).to.throw(InvalidArgumentError, 'limitTokens: ');
    });
});
