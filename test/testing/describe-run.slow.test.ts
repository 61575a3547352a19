import { expect } from 'chai';
import { describeRun } from '../../src/testing/index.js';
import { madeUp } from '../support/made-up-spans.js';

describe('describeRun', () => {
  it('prints 5,000 nested and 130,000 sibling spans', () => {
    const deep = madeUp(
      Array.from({ length: 5_000 }, (_, at) => {
        return { id: `${at}`, name: 'deep', from: at, to: 5_000, parent: `${at - 1}` };
      }),
    );
    const wide = madeUp(
      Array.from({ length: 130_000 }, (_, at) => {
        return { id: `${at}`, name: 'wide', from: at, to: at };
      }),
    );

    expect(describeRun(deep).match(/─ deep/g)).to.have.length(4_999);
    expect(describeRun(wide).match(/wide/g)).to.have.length(130_000);
  });
});
