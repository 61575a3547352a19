import { expect } from 'chai';
import { transformSync } from 'esbuild';
import { withoutVariable } from '../support/without-variable.js';
import { MISTAKES } from './index.js';
import type { Mistake } from './mistake.js';
import * as names from './names.js';

type Program = (...values: readonly unknown[]) => Promise<void>;
const AsyncFunction = (async () => undefined).constructor as new (...source: string[]) => Program;

/** Runs a program as Node.js does, which only strips its types. */
function run(code: string): Promise<void> {
  const options = { loader: 'ts', target: 'es2022' } as const;
  const program = transformSync(`export default async () => { ${code} };`, options).code;
  const body = `'use strict'; ${program.replace('export default', 'return (').replace(/;\s*$/, ')();')}`;
  return new AsyncFunction(...Object.keys(names), body)(...Object.values(names));
}

/** The error of a program, or else its warnings and results. */
async function messageOf(code: string): Promise<string> {
  names.shown.length = 0;
  const { warn } = console;
  console.warn = names.show;
  try {
    await run(code);
    return names.shown.join('\n');
  } catch (error) {
    return String(error);
  } finally {
    console.warn = warn;
  }
}

/** A program with an import of its own is the compiler's. */
const isRun = ({ code }: Mistake): boolean => !code.startsWith('import');

describe('mistakes', () => {
  const all = Object.values(MISTAKES).flat();

  it('are at least 81, each with a title of its own', () => {
    expect(new Set(all.map(({ title }) => title)).size)
      .to.equal(all.length)
      .and.to.be.at.least(81);
  });

  it('have a message that names the next step, but for three', () => {
    expect(all.filter(({ tsc, run }) => !tsc && !run)).to.deep.equal([]);
    expect(all.filter(({ unhelpful }) => unhelpful).map(({ title }) => title)).to.deep.equal([
      'a wire imported from the main entry',
      'a message pushed into the request',
      'a stream taken for a text',
    ]);
  });

  for (const [area, mistakes] of Object.entries(MISTAKES))
    describe(`with ${area}, at run time`, () => {
      withoutVariable('OPENAI_API_KEY');

      for (const { title, code, run: expected } of mistakes.filter(isRun))
        it(title, async () => {
          const message = await messageOf(code);

          if (expected === undefined) expect(message).to.equal('');
          else expect(message).to.include(expected);
        });
    });
});
