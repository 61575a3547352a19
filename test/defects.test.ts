import { expect } from 'chai';
import { filesByNumber, readTest } from './support/numbered-tests.js';

interface Row {
  readonly number: string;
  readonly files: readonly string[];
  /** A title of each file, as its source writes it. */
  readonly titles: readonly string[];
  readonly text: string;
}

const rows: readonly Row[] = [
  ...readTest('defects.md').matchAll(/^\| (D\d+) +\|.*\|(.*)\|$/gm),
].map(([, number = '', cell = '']) => {
  const tests = [...cell.matchAll(/`([^`]+)`: `([^`]+)`/g)];
  const [files, titles] = [1, 2].map((group) => tests.map((test) => test[group] ?? ''));
  return { number, files: files ?? [], titles: titles ?? [], text: cell.trim() };
});

const numbersOf = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `D${from + at}`);

describe('test/defects.md', () => {
  it('has a row for each defect of the chain up to D70, and for each other one that is fixed', () => {
    const present = new Set(rows.map(({ number }) => number));
    const fixed = (from: number, to: number): readonly string[] =>
      numbersOf(from, to).filter((number) => present.has(number));

    expect(rows.map(({ number }) => number)).to.deep.equal([
      ...numbersOf(1, 40),
      ...fixed(41, 62),
      ...numbersOf(63, 70),
      ...fixed(71, 110),
    ]);
  });

  it('lists the files that name a defect, and no others', () => {
    const tests = filesByNumber('D');

    for (const { number, files } of rows)
      expect(files, number).to.deep.equal(tests.get(number) ?? []);
  });

  it('has a title of each file, with the number, or the reason why there is no test', () => {
    const wrong = rows.flatMap(({ number, files, titles, text }) => {
      if (files.length === 0) return /^No test: .+\.$/.test(text) ? [] : [`${number}: no reason`];
      return titles.filter(
        (title, at) => !title.includes(`[${number}]`) || !readTest(files[at] ?? '').includes(title),
      );
    });

    expect(wrong).to.deep.equal([]);
  });
});
