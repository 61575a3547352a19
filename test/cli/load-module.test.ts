import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommandLine } from '../support/command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'load-module-'));
const source = new URL('../../src/', import.meta.url).href;
const HEAD = `import { ChatClient } from '${source}index.js';
import { OfflineChatModel } from '${source}testing/index.js';
const make = () => ChatClient.create(new OfflineChatModel());
`;

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}
const explain = (name: string) => runCommandLine(['explain', name], { cwd: folder });

describe('a module of the command line', () => {
  after(() => rmSync(folder, { recursive: true }));

  it('gives its default export, `client`, `chat`, or its only client', async () => {
    const exports = [
      'export default make();',
      'export const client = make(); export const other = make();',
      'export const chat = make(); export const other = make();',
      'export const assistant = make(); export const x = 1;',
    ];
    for (const [at, line] of exports.entries()) {
      const { code, out, err } = await explain(file(`good-${at}.mjs`, HEAD + line));

      expect([code, err], line).to.deep.equal([0, '']);
      expect(out).to.include('once per iteration: model');
    }
  });

  it('is TypeScript, too', async () => {
    const { code, out } = await explain(
      file('app.ts', `${HEAD}enum Kind { a }\nexport const client: object = make(); void Kind.a;`),
    );

    expect(code).to.equal(0);
    expect(out).to.include('tool loop:          tool-calling');
  });

  it('gives the exports of a CommonJS module', async () => {
    const text = `module.exports = { chat: { prompt() {}, mutate() {}, resume() {}, explain: () => 'foreign' } };`;

    expect(await explain(file('app.cjs', text))).to.deep.equal({
      code: 0,
      out: 'foreign\n',
      err: '',
    });
  });

  it('is refused with its exports if it has no client', async () => {
    const wrong: readonly (readonly [string, string])[] = [
      ['', 'exports no ChatClient, but nothing; add "export default client"'],
      [
        'export const x = 1; export class A {}; export const a = new A(); export default {};',
        'but only A (function), a (A), default (an object), x (number)',
      ],
      [
        'export const a = make(); export const b = make();',
        'exports several clients: a, b; export one as default',
      ],
      [
        'export const b = ChatClient.builder(new OfflineChatModel());',
        'exports b, a builder: export what its build() returns',
      ],
    ];
    for (const [at, [text, message]] of wrong.entries()) {
      const { code, err } = await explain(file(`wrong-${at}.mjs`, HEAD + text));

      expect(code).to.equal(1);
      expect(err).to.include(message);
    }
  });

  it('is refused if it is missing, a folder, or fails, with the line that failed', async () => {
    file('fails.mjs', `\nthrow new Error('no database');`);
    file('missing.mjs', `import 'not-installed-at-all';`);

    expect((await explain('none.ts')).err).to.equal('Error: there is no file none.ts\n');
    expect((await explain('.')).err).to.include('. is a folder; give the file');
    expect((await explain('fails.mjs')).err).to.equal(
      'Error: fails.mjs cannot be loaded: no database (fails.mjs:2)\n',
    );
    expect((await explain('missing.mjs')).err).to.include(
      "Cannot find package 'not-installed-at-all'",
    );
  });

  it('is refused with a way to the line if its syntax is wrong', async () => {
    expect((await explain(file('syntax.mjs', 'const { a = } 3'))).err).to.equal(
      `Error: syntax.mjs cannot be loaded: Unexpected token '}'; "node syntax.mjs" prints the line\n`,
    );
  });

  it('is explained as JSON with --json', async () => {
    const name = file('json.mjs', `${HEAD}export default make();`);

    const { out } = await runCommandLine(['explain', name, '--json'], { cwd: folder });

    expect(JSON.parse(out)).to.deep.include({ toolLoop: 'tool-calling', warnings: [] });
  });
});
