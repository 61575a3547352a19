import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { sweep } from './sweep.js';

const FINDS = new URL('../fixtures/fuzz/', import.meta.url);

/**
 * Parameters of a property that `npm run fuzz` checks with fresh seeds: the finds so far, then random cases. A find of that
 * command is kept, so that every later test run checks it first.
 */
export function fuzz<T>(name: string, cases: number, folder = FINDS): fc.Parameters<T> {
  const file = new URL(`${name}.json`, folder);
  const finds = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly T[]) : [];
  return {
    numRuns: sweep(cases) + finds.length,
    examples: [...finds],
    reporter: ({ failed, counterexample, ...details }) => {
      if (!failed) return;
      if (process.env['FUZZ'] === 'true') keep(file, finds, counterexample);
      const report = { failed, counterexample, ...details } as fc.RunDetails<T>;
      throw new Error(fc.defaultReportMessage(report), { cause: report.errorInstance });
    },
  };
}

/** Adds a find that JSON can express; others are in the report alone, and become a named test. */
function keep(file: URL, finds: readonly unknown[], find: unknown): void {
  const text = JSON.stringify([...finds, find]);
  if (isDeepStrictEqual(JSON.parse(text), [...finds, find])) writeFileSync(file, `${text}\n`);
  else console.error('JSON cannot express this find: write it as a test');
}
