import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { Screen } from '../../src/cli/chat/screen.js';

describe('the screen of a chat', () => {
  it('has a width where its terminal has none', () => {
    const widthOf = (columns: number | undefined): number => {
      const notes = Object.assign(new PassThrough(), { columns });
      return new Screen({ output: notes, notes, isLive: true, hasColors: false, canErase: false })
        .width;
    };

    expect([widthOf(60), widthOf(0), widthOf(undefined)]).to.deep.equal([60, 80, 80]);
  });
});
