import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = 'examples/ports';
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const files = readdirSync(join(root, folder)).filter((file) => file.endsWith('.ts'));

/** Each page with its pair of programs, and the libraries whose version it names. */
const PAGES = [
  { page: 'docs/coming-from-the-ai-sdk.md', pair: 'ai-sdk', libraries: ['ai'] },
  {
    page: 'docs/coming-from-langchain.md',
    pair: 'langchain',
    libraries: ['langchain', '@langchain/langgraph'],
  },
];
const MAX_WORDS = 1_300;

/** The blocks of code below the path of a file, as pairs of path and code. */
function programsOf(page: string): readonly (readonly [string, string])[] {
  return [...read(page).matchAll(/^`(examples\/.+)`\n\n```(?:ts|typescript)\n([^]*?)^```$/gm)].map(
    ([, file = '', code = '']) => [file, code] as const,
  );
}

describe('pages for users of other libraries', () => {
  for (const { page, pair, libraries } of PAGES) {
    it(`${page} shows both programs as they run`, () => {
      const programs = ['theirs', 'ours'].map((side) => `${folder}/${pair}-${side}.ts`);

      expect(programsOf(page)).to.deep.equal(programs.map((file) => [file, read(file)]));
    });

    it(`${page} is short, and names the installed versions`, () => {
      const { devDependencies } = JSON.parse(read(`${folder}/package.json`)) as {
        readonly devDependencies: Readonly<Record<string, string>>;
      };

      expect(read(page).split(/\s+/).length).to.be.at.most(MAX_WORDS);
      for (const library of libraries)
        expect(read(page), library).to.include(devDependencies[library]);
    });

    it(`${page} has programs that the checks of the package run and compare`, () => {
      const pairs = /const PAIRS = \[(.+)\]/.exec(read('.ci/port-steps.mjs'))?.[1];

      expect(pairs).to.include(`'${pair}'`);
    });
  }

  it('show every program of the folder', () => {
    const shown = PAGES.flatMap(({ page }) => programsOf(page)).map(([file]) => file);

    expect(shown).to.have.members(files.map((file) => `${folder}/${file}`));
  });

  it('have libraries that install from any registry, without scripts', () => {
    expect(read(`${folder}/package-lock.json`)).not.to.match(/"resolved"|https?:\/\/registry/);
    expect(read(`${folder}/.npmrc`)).to.match(/^ignore-scripts=true$/m);
  });
});
