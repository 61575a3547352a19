import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isInRange } from '../../src/cli/doctor/installed.js';
import { OPTIONAL_PACKAGES } from '../../src/cli/doctor/optional-packages.js';
import { runCommandLine } from '../support/command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
const manifest = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string; readonly peerDependencies: Readonly<Record<string, string>> };

function install(name: string, version: string): void {
  const home = join(folder, 'node_modules', name);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name, version }));
}
const doctor = (argv: readonly string[] = [], env: Record<string, string> = {}) =>
  runCommandLine(['doctor', ...argv], { cwd: folder, env });

describe('advisor-chain doctor', () => {
  beforeEach(() => mkdirSync(folder, { recursive: true }));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('knows the use of every optional package', () => {
    expect(Object.keys(OPTIONAL_PACKAGES)).to.have.members([
      ...Object.keys(manifest.peerDependencies),
      'tsx',
    ]);
  });

  it('shows versions, packages and the names of keys, but no value', async () => {
    install('zod', '4.6.7');
    install('@ai-sdk/mistral', '3.0.1');
    install('@ai-sdk/provider', '3.0.1');

    const { code, out, err } = await doctor([], { OPENAI_API_KEY: 'sk-secret', CO_API_KEY: '' });

    expect([code, err]).to.deep.equal([0, '']);
    expect(out).to.include(`advisor-chain ${manifest.version}, Node.js ${process.versions.node}`);
    expect(out).to.match(/set: {5}OPENAI_API_KEY\n/);
    expect(out).to.match(/not set: .*CO_API_KEY/);
    expect(out)
      .to.match(/zod +4\.6\.7 +schemas/)
      .and.match(/@ai-sdk\/mistral +3\.0\.1 +--model mistral:/);
    expect(out).to.not.include('@ai-sdk/provider').and.not.include('sk-secret');
    expect(out).to.match(/not\n(.|\n)* {2}pg +PostgreSQL/);
    expect(out).to.include('No problem found.');
  });

  it('prints JSON with --json', async () => {
    install('pg', '8.20.0');

    const { code, out } = await doctor(['--json'], { GEMINI_API_KEY: 'secret' });

    const report = JSON.parse(out) as { readonly packages: readonly unknown[] };
    expect(code).to.equal(0);
    expect(report).to.deep.include({ keys: ['GEMINI_API_KEY'], problems: [], databases: [] });
    expect(report.packages).to.deep.include({
      name: 'pg',
      version: '8.20.0',
      needs: manifest.peerDependencies['pg'],
      gives: OPTIONAL_PACKAGES['pg'],
    });
    expect(out).to.not.include('secret');
  });

  it('ends with 1 for a version that does not work', async () => {
    install('pg', '7.4.1');

    const { code, out } = await doctor();

    expect(code).to.equal(1);
    expect(out).to.include('pg 7.4.1 does not work: npm install "pg@^8.16.0"');
  });

  it('connects to databases only when asked, and hides their passwords', async () => {
    let connections = 0;
    const server: Server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { readonly port: number };
    writeFileSync(join(folder, 'chat.db'), '');
    const address = `postgres://anna:secret@127.0.0.1:${port}/x`;

    await doctor([], { DATABASE_URL: address });
    expect(connections).to.equal(0);
    const argv = [address, 'redis://127.0.0.1:1', 'none.db', 'chat.db'].map(
      (each) => `--database=${each}`,
    );
    const { code, out } = await doctor(argv);
    server.close();

    expect([code, connections]).to.deep.equal([1, 1]);
    expect(out).to.include(`postgres://anna:***@127.0.0.1:${port}/x: Connection terminated`);
    expect(out).to.match(/redis:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/);
    expect(out).to.include('none.db: there is no such file').and.include('chat.db: answers');
    expect(out).to.not.include('secret');
  });

  it('compares versions with the ranges of the package', () => {
    const cases: readonly (readonly [string, string, boolean])[] = [
      ['20.19.0', '>=20.19', true],
      ['20.18.9', '>=20.19', false],
      ['24.0.0', '>=20.19', true],
      ['5.0.0', '^5.0.0 || ^6.0.0', true],
      ['7.0.0', '^5.0.0 || ^6.0.0', false],
      ['0.6.3', '^0.6.0', true],
      ['0.7.0', '^0.6.0', false],
      ['8.15.9', '^8.16.0', false],
      ['18.4.0-beta.17', '*', true],
    ];
    for (const [version, range, expected] of cases)
      expect(isInRange(version, range), `${version} in ${range}`).to.equal(expected);
  });
});
