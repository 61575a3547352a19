import { expect } from 'chai';
import { filesByNumber, readPage } from './support/numbered-tests.js';

const [, faults = ''] = readPage('reliability.md').split('\n## Faults\n');

/** The numbers of the list, in order. */
const listed = [...faults.matchAll(/^- (F\d+), /gm)].map(([, code = '']) => code);

/** The numbers that the page names as those without a test. */
const [, untested = ''] = /No test names\s+([F\d, ]+):/.exec(faults) ?? [];

describe('the faults of docs/reliability.md', () => {
  it('are all 106', () => {
    expect(listed).to.deep.equal(Array.from({ length: 106 }, (_, at) => `F${at + 1}`));
  });

  it('are named by tests, but for those that the page lists', () => {
    const tests = filesByNumber('F');

    expect(listed.filter((code) => !tests.has(code))).to.deep.equal(untested.split(', '));
    expect([...tests.keys()].filter((code) => !listed.includes(code))).to.deep.equal([]);
  });
});
