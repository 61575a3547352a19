import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** The test files of each fault, as test/faults.md lists them. */
function listed(): ReadonlyMap<string, readonly string[]> {
  const rows = readFileSync(`${folder}faults.md`, 'utf8').matchAll(
    /^\| (F\d+) +\|[^|]*\|([^|]*)\|/gm,
  );
  return new Map(
    [...rows].map(([, code = '', files = '']) => [
      code,
      [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
    ]),
  );
}

/** The test files of each fault, by the codes in their titles. */
function named(): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .toSorted();
  const byCode = new Map<string, string[]>();
  for (const file of files) {
    const codes = readFileSync(folder + file, 'utf8').match(/(?<=\[)F\d+(?=\])/g) ?? [];
    for (const code of new Set(codes)) byCode.set(code, [...(byCode.get(code) ?? []), file]);
  }
  return byCode;
}

describe('test/faults.md', () => {
  it('has a row for each of the 106 faults', () => {
    expect([...listed().keys()]).to.deep.equal(
      Array.from({ length: 106 }, (_, at) => `F${at + 1}`),
    );
  });

  it('lists the tests that name a fault, and no others', () => {
    const tests = named();

    for (const [code, files] of listed()) expect(files, code).to.deep.equal(tests.get(code) ?? []);
  });
});
