import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

interface Target {
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

const root = new URL('../../', import.meta.url);
const { targets } = (await import(new URL('.ci/mutation.mjs', root).href)) as {
  readonly targets: Readonly<Record<string, Target>>;
};
const report = readFileSync(new URL('test/mutation.md', root), 'utf8');

describe('the targets of mutation tests', () => {
  for (const [name, { sources, tests }] of Object.entries(targets)) {
    it(`${name}: has files that exist`, () => {
      const missing = [...sources, ...tests].filter((path) => !existsSync(new URL(path, root)));

      expect(missing).to.deep.equal([]);
    });

    it(`${name}: has a row and its survivors in the report`, () => {
      expect(report).to.match(new RegExp(`^\\| ${name} +\\|`, 'm'));
      expect(report).to.include(`\n## ${name}\n`);
    });
  }
});
