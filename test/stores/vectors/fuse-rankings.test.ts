import { expect } from 'chai';
import { fuseRankings } from '../../../src/stores/vectors/fuse-rankings.js';

const itself = (item: string): string => item;

describe('fuseRankings', () => {
  it('adds the reciprocal ranks of an item over all rankings', () => {
    const rankings = [
      { items: ['a', 'b'], weight: 1 },
      { items: ['c', 'b'], weight: 1 },
    ];

    const fused = fuseRankings(rankings, itself, 1);

    expect(fused).to.deep.equal([
      { item: 'b', score: 2 / 3 },
      { item: 'a', score: 1 / 2 },
      { item: 'c', score: 1 / 2 },
    ]);
  });

  it('multiplies by the weight of a ranking', () => {
    const rankings = [
      { items: ['a'], weight: 1 },
      { items: ['b'], weight: 3 },
    ];

    const fused = fuseRankings(rankings, itself, 60);

    expect(fused.map(({ item }) => item)).to.deep.equal(['b', 'a']);
  });

  it('counts an item that a ranking has twice once, at its best rank', () => {
    const fused = fuseRankings([{ items: ['a', 'b', 'a'], weight: 1 }], itself, 1);

    expect(fused).to.deep.equal([
      { item: 'a', score: 1 / 2 },
      { item: 'b', score: 1 / 3 },
    ]);
  });

  it('keeps the first of equal items', () => {
    const [first, second] = [{ id: 'a' }, { id: 'a' }];
    const rankings = [first, second].map((item) => ({ items: [item], weight: 1 }));

    const [fused] = fuseRankings(rankings, ({ id }) => id, 60);

    expect(fused?.item).to.equal(first);
  });

  it('makes nothing of nothing', () => {
    expect(fuseRankings<string>([], itself, 60)).to.deep.equal([]);
  });
});
