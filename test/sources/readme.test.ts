import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const read = (name: string): string =>
  readFileSync(new URL(`./${name}`, import.meta.url), 'utf8').replaceAll("\\'", "'");

/** The titles of the page by test file; a title may be a part of one that a loop completes. */
function listed(): ReadonlyMap<string, readonly string[]> {
  const [, ...parts] = read('README.md').split(/^`test\/sources\/([^`]+)`$/m);
  const pairs = parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1] ?? '']] : []));
  return new Map(pairs.map(([name = '', text = '']) => [name, titlesIn(text)]));
}

function titlesIn(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => /^\| (?!Section |-)/.test(line))
    .flatMap((line) => (line.split('|')[2] ?? '').split('<br>').map((title) => title.trim()));
}

/** The titles of the tests of a file, as its source has them. */
const titlesOf = (name: string): readonly string[] =>
  [...read(name).matchAll(/\bit\(\s*(['"`])(.+?)\1,/gs)].map(([, , title = '']) => title);

describe('test/sources/README.md', () => {
  const pages = listed();
  const files = readdirSync(new URL('.', import.meta.url)).filter(
    (name) => name.endsWith('.test.ts') && name !== 'readme.test.ts',
  );

  it('lists each test file once', () => {
    expect([...pages.keys()].toSorted()).to.deep.equal(files.toSorted());
  });

  for (const file of files)
    it(`lists the tests of ${file}, and no others`, () => {
      const titles = titlesOf(file);
      const onPage = pages.get(file) ?? [];

      expect(titles).to.not.have.lengthOf(0);
      expect(onPage).to.not.include(''); // it would match every title
      expect(onPage.filter((part) => !titles.some((title) => title.includes(part)))).to.be.empty;
      expect(titles.filter((title) => !onPage.some((part) => title.includes(part)))).to.be.empty;
    });
});
