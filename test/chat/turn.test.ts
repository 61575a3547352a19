import { expect } from 'chai';
import { Turn } from '../../src/chat/turn.js';

describe('Turn', () => {
  it('has an id of 128 random bits, another one for each of many', () => {
    const ids = Array.from({ length: 2_000 }, () => new Turn().id);

    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{32}$/);
  });

  it('keeps its id', () => {
    const turn = new Turn();

    expect(turn.id).to.equal(turn.id);
    expect(new Turn('mine').id).to.equal('mine');
  });
});
