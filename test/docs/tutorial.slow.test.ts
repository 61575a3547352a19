import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, { readonly types: string }>>;
};

/** A program, with the entries of the package as its sources. */
function withSources(code: string): string {
  return code.replaceAll(/'advisor-chain(\/[^']+)?'/g, (_, entry: string = '') => {
    const types = exports[`.${entry}`]?.types ?? `no entry ${entry}`;
    const source = types.replace('./dist/types/', '').replace(/\.d\.ts$/, '.ts');
    return `'${pathToFileURL(join(root, source)).href}'`;
  });
}

/** Blocks of TypeScript, each with the text below it: what it prints, if the page shows it. */
function programsOf(page: string): { code: string; printed: string | undefined }[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$(?:\n\n```text\n([\s\S]*?)^```$)?/gm)].map(
    ([, code = '', printed]) => ({ code, printed }),
  );
}

const PAGES = ['first-chain', 'tools', 'memory', 'production'];

/** Runs programs one after another in one process, and returns what each prints. */
function printedBy(programs: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'advisor-chain-tutorial-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    programs.forEach((code, at) => writeFileSync(join(folder, `${at}.ts`), withSources(code)));
    const all = programs.map((_, at) => `await import('./${at}.ts');\nconsole.log('\\0');`);
    writeFileSync(join(folder, 'all.ts'), all.join('\n'));
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'all.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return (stdout + stderr).split('\0\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the tutorial', () => {
  it('prints what its pages show', function () {
    this.timeout(120_000);
    const pages = PAGES.map((name) => programsOf(`docs/tutorial/${name}.md`));
    // each program stands below the first one of its page
    const programs = pages.flatMap(([first, ...others]) => [
      { code: first?.code ?? '', printed: first?.printed },
      ...others
        .filter(({ printed }) => printed !== undefined)
        .map(({ code, printed }) => ({
          code: `${first?.code}${code}`,
          printed: `${first?.printed}${printed}`,
        })),
    ]);

    const printed = printedBy(programs.map(({ code }) => code));

    expect(programs).to.have.length.above(8);
    programs.forEach(({ code, printed: shown }, at) => expect(printed[at], code).to.equal(shown));
  });
});
