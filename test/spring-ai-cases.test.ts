import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/** All cases, by area and number; the gaps are cases without behaviour of their own. */
const CASES: Readonly<Record<string, string>> = {
  CHN: '01-09 11 14 16 18-19',
  CTX: '01-03 06 08-13 15-17 19-20',
  AGG: '02-07',
  REG: '01-04 06 08-09 11 13-14 16-27',
  TCA: '01-03 05-07 09-11 13-20 22 27-36 38 40-42 44 47-50 52-55 57-65 68',
  CLI: '03 07-11 13-15 19-24 26-31 33-44 46 48-49 51-54 56-59',
  OPT: '02-05 07-08 11-14',
  MGR: '02-03 05-14 17-22 25-26 29-31 33-35 37 39-44',
  TOL: '02 05-07 10-19 21-22 25-35 37-39 42-43',
  AUG: '01-02 05-08 10-13',
  SOV: '02-09 11-12 14-15 17 19-21 23-24 26-27 29-30',
  OAI: '01 03-08 10-12',
  MEM: '01 03-04 06-08 12-18 20-21 23-27 29-31 33-36 38-40',
  TSA: '01-08 10 12 14 18-26 29-30',
  TST: '02 04-06 08-13 15-19 21-23 25 27-29 31-33 35-36 39-40 42 44-46 49-61',
  RAG: '02 04-07',
  SPN: '01',
  OBS: '01-10 12-13 15-16 20-22 25-27',
  GRD: '01-03 05-06',
};
const ids = Object.entries(CASES).flatMap(([area, numbers]) =>
  numbers.split(' ').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from(
      { length: last - first + 1 },
      (_, at) => `${area}-${String(first + at).padStart(2, '0')}`,
    );
  }),
);

const rows = read('test/spring-ai-cases.md')
  .split('\n')
  .flatMap((line) => {
    const [, id = '', , here = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return /^[A-Z]+-\d+$/.test(id) ? [{ id, here }] : [];
  });

describe('test/spring-ai-cases.md', () => {
  it('lists each of the 398 cases once', () => {
    expect(rows.map(({ id }) => id)).to.deep.equal(ids);
    expect(ids).to.have.lengthOf(398);
  });

  it('names only test files that contain the case, and a reason if there is none', () => {
    const wrong = rows.flatMap(({ id, here }) => {
      const files = [...here.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
      if (files.length === 0)
        return /^\*\*(different|not applicable|not implemented):\*\* .+\.$/.test(here)
          ? []
          : [`${id}: no reason`];
      return files
        .filter((file) => !new RegExp(`\\b${id}\\b`).test(read(file)))
        .map((file) => `${id}: not in ${file}`);
    });

    expect(wrong).to.deep.equal([]);
  });
});
