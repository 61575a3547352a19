import { expect } from 'chai';
import { filesByNumber, readTest } from './support/numbered-tests.js';

/** The test files of each fault, as test/faults.md lists them. */
function listed(): ReadonlyMap<string, readonly string[]> {
  const rows = readTest('faults.md').matchAll(/^\| (F\d+) +\|[^|]*\|([^|]*)\|/gm);
  return new Map(
    [...rows].map(([, code = '', files = '']) => [
      code,
      [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
    ]),
  );
}

describe('test/faults.md', () => {
  it('has a row for each of the 106 faults', () => {
    expect([...listed().keys()]).to.deep.equal(
      Array.from({ length: 106 }, (_, at) => `F${at + 1}`),
    );
  });

  it('lists the tests that name a fault, and no others', () => {
    const tests = filesByNumber('F');

    for (const [code, files] of listed()) expect(files, code).to.deep.equal(tests.get(code) ?? []);
  });
});
