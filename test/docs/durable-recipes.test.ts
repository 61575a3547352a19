import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = 'examples/durable-engines';
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = read('docs/durable-recipes.md');
const files = readdirSync(join(root, folder)).filter((file) => file.endsWith('.ts'));

/** Parts that recipes share. */
const SHARED = ['client.ts', 'journal.ts'];
/** Lines of a recipe, without imports and comments. */
const MAX_LINES = 45;

/** Number of lines without imports, comments and blank lines. */
function linesOfCode(text: string): number {
  const code = text.replaceAll(/^import [\s\S]*?;$|\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

describe('docs/durable-recipes.md', () => {
  it('shows the file of each recipe', () => {
    const shown = [
      ...page.matchAll(/^`examples\/durable-engines\/(.+)`\n\n```typescript\n([^]*?)^```$/gm),
    ].map(([, file = '', code = '']) => [file, code]);

    expect(shown.map(([file]) => file)).to.have.members(files);
    for (const [file, code] of shown) expect(code, file).to.equal(read(`${folder}/${file}`));
  });

  it('has short recipes', () => {
    for (const file of files.filter((each) => !SHARED.includes(each)))
      expect(linesOfCode(read(`${folder}/${file}`)), file).to.be.at.most(MAX_LINES);
  });

  it('names the versions that the lock file installs', () => {
    const { devDependencies } = JSON.parse(read(`${folder}/package.json`)) as {
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    const versions = Object.entries(devDependencies).filter(([name]) => !/builders/.test(name));

    for (const [name, version] of versions) expect(page, name).to.include(version);
  });

  it('[F106] installs from any registry, without scripts', () => {
    expect(read(`${folder}/package-lock.json`)).not.to.match(/"resolved"|https?:\/\/registry/);
    expect(read(`${folder}/.npmrc`)).to.match(/^ignore-scripts=true$/m);
  });
});
