import { expect } from 'chai';
import { TurnId } from '../../../src/core/chat/context.js';

describe('TurnId', () => {
  it('is 128 random bits, unique for many turns', () => {
    const ids = Array.from({ length: 2_000 }, () => new TurnId().id);

    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{32}$/);
  });

  it('is stable', () => {
    const turn = new TurnId();

    expect(turn.id).to.equal(turn.id);
    expect(new TurnId('mine').id).to.equal('mine');
  });
});
