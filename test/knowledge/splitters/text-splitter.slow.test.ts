import { expect } from 'chai';
import { TextSplitter } from '../../../src/knowledge/splitters/text-splitter.js';
import { cpuTime } from '../../support/cpu-time.js';

/** Texts of about a megabyte that take the most time, each by its number of repetitions. */
const HOSTILE: Readonly<Record<string, (count: number) => string>> = {
  'no spaces': (count) => 'a'.repeat(count),
  spaces: (count) => `${' '.repeat(count)}x`,
  lines: (count) => 'a\n'.repeat(count / 2),
  pipes: (count) => '|'.repeat(count),
  'a row of a table': (count) => `|---|${' '.repeat(count)}x\n|`,
  '10,000 columns': (count) => `${'| a '.repeat(10_000)}|\n`.repeat(count / 40_000),
  fences: (count) => '```\n'.repeat(count / 4),
  backticks: (count) => '`'.repeat(count),
  headings: (count) => '# a\n'.repeat(count / 4),
  'hash signs': (count) => '# '.repeat(count / 2),
  'underlined headings': (count) => 'a\n---\n'.repeat(count / 6),
  pages: (count) => 'x\f'.repeat(count / 2),
  accents: (count) => `e${'\u0301'.repeat(count)}`,
  families: (count) => '👨‍👩‍👧‍👦'.repeat(count / 11),
  quotes: (count) => '."'.repeat(count / 2),
  sentences: (count) => 'A. '.repeat(count / 3),
  'half pairs': (count) => '\ud800'.repeat(count),
  'deeper and deeper lines': (count) =>
    Array.from({ length: Math.sqrt(count * 2) }, (_, at) => `${' '.repeat(at)}x`).join('\n'),
};

describe('TextSplitter with hostile texts', () => {
  for (const [name, make] of Object.entries(HOSTILE))
    for (const format of ['markdown', 'text', 'code'] as const)
      it(`splits ${name} as ${format} in linear time`, () => {
        const splitter = new TextSplitter({ format, overlap: 50 });
        const timeOf = (text: string): number => {
          const time = cpuTime();
          splitter.split({ id: 'd', text });
          return time();
        };
        const best = (text: string): number => Math.min(timeOf(text), timeOf(text), timeOf(text));

        const small = best(make(250_000));
        const large = best(make(1_000_000));

        // 4 times the text: 16 times the time if it were quadratic
        expect(large).to.be.below(10 * Math.max(small, 20));
      });
});
