import { expect } from 'chai';
import { filesByNumber, readPage } from './support/numbered-tests.js';

/** The test files of each fault, as docs/reliability.md lists them. */
function listed(): ReadonlyMap<string, readonly string[]> {
  const faults = readPage('reliability.md').split('\n## Faults\n')[1] ?? '';
  const rows = faults.matchAll(/^\| (F\d+) +\|[^|]*\|[^|]*\|([^|]*)\|/gm);
  return new Map(
    [...rows].map(([, code = '', files = '']) => [
      code,
      [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
    ]),
  );
}

describe('the faults of docs/reliability.md', () => {
  it('are all 106', () => {
    expect([...listed().keys()]).to.deep.equal(
      Array.from({ length: 106 }, (_, at) => `F${at + 1}`),
    );
  });

  it('list the tests that name a fault, and no others', () => {
    const tests = filesByNumber('F');

    for (const [code, files] of listed()) expect(files, code).to.deep.equal(tests.get(code) ?? []);
  });
});
