import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The rows of the tables: a case of Spring AI, and what is here. */
const rows = read('docs/coming-from-spring-ai.md')
  .split('\n')
  .flatMap((line) => {
    const [, id = '', , here = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return /^[A-Z]+-\d+$/.test(id) ? [{ id, here }] : [];
  });

describe('docs/coming-from-spring-ai.md', () => {
  it('has each case once, and every area', () => {
    const ids = rows.map(({ id }) => id);

    expect(new Set(ids).size).to.equal(ids.length);
    expect([...new Set(ids.map((id) => id.slice(0, 3)))]).to.deep.equal([
      'CHN',
      'CTX',
      'REG',
      'TCA',
      'CLI',
      'OPT',
      'MGR',
      'TOL',
      'AUG',
      'MEM',
      'TSA',
      'TST',
      'SPN',
      'OBS',
      'GRD',
    ]);
  });

  it('names only tests that have the case in a title, and says why where it names none', () => {
    const wrong = rows.flatMap(({ id, here }) => {
      const files = [...here.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
      if (files.length === 0) return /^\*\*(different|not applicable):\*\* .+\.$/.test(here) ? [] : [`${id}: no reason`];
      return files.filter((file) => !new RegExp(`\\b${id}\\b`).test(read(file))).map((file) => `${id}: not in ${file}`);
    });

    expect(wrong).to.deep.equal([]);
  });
});
