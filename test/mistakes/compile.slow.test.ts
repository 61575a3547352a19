import { expect } from 'chai';
import { compilePrograms } from '../support/compile-programs.js';
import { MISTAKES } from './index.js';
import * as names from './names.js';

/** The imports of each program. */
const IMPORTS = `import { ${Object.keys(names).join(', ')} } from 'names';\n`;

describe('mistakes', () => {
  const programs = Object.values(MISTAKES)
    .flat()
    .map(({ title, code }) => [title, IMPORTS + code] as const);
  let errors: ReadonlyMap<string, string>;

  before(function () {
    this.timeout(120_000);
    errors = compilePrograms(new Map(programs), { names: 'test/mistakes/names.ts' });
  });

  for (const [area, mistakes] of Object.entries(MISTAKES))
    describe(`with ${area}, at compile time`, () => {
      for (const { title, tsc } of mistakes)
        it(title, () => {
          const message = errors.get(title) ?? '';

          if (tsc === undefined) expect(message).to.equal('');
          else expect(message).to.include(tsc);
        });
    });
});
