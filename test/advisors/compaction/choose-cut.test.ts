import { expect } from 'chai';
import { splitBy } from '../../../advisors/compaction/pieces.js';
import { chooseCut, removedBy, type Cut } from '../../../advisors/compaction/place-summary.js';
import { assistant, user } from '../../support/conversation.js';

const TURNS = 1_000;
const pieces = splitBy(
  new Set(),
  new Set(),
)(
  Array.from({ length: TURNS }, (_, at) => [user(`question ${at}`), assistant('answer')])
    .flat()
    .slice(0, -1),
);

describe('the choice of what a step removes', () => {
  it('is the smallest part that is enough, found with few attempts', () => {
    for (const wanted of [1, 7, 1_000, 1_998]) {
      let attempts = 0;
      const isEnough = (cut: Cut): boolean => {
        attempts++;
        return removedBy(cut, pieces).size >= wanted;
      };

      const cut = chooseCut(pieces, new Set(), isEnough);

      expect(cut).to.deep.equal({ turn: Math.ceil(wanted / 2) - 1, iteration: -1 });
      expect(attempts).to.be.at.most(12);
    }
  });

  it('is the largest part if none is enough, and nothing if nothing may be removed', () => {
    expect(chooseCut(pieces, new Set(), () => false)).to.have.property('turn', TURNS - 2);
    expect(chooseCut(pieces.slice(-1), new Set(), () => true)).to.equal(undefined);
  });
});
