import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const TOOLS = ['read_weather', 'send_email'].map((name) => ({
  name,
  description: name.replace('_', ' '),
  inputSchema: { type: 'object' },
}));
const QUERIES = [
  { query: 'weather', relevant: ['read_weather'] },
  { query: 'write an email', relevant: ['send_email'] },
];

describe('advisor-chain tool-search-report as a program', function () {
  this.timeout(60_000);
  this.slow(10_000);
  let folder: string;

  const file = (name: string, content: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'advisor-chain-'));
  });

  after(() => {
    rmSync(folder, { recursive: true });
  });

  interface Run {
    readonly code: number;
    readonly stdout: string;
    readonly stderr: string;
  }

  const run = (...args: readonly string[]): Promise<Run> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        ['--import', 'tsx', 'src/evaluation/cli.ts', ...args],
        { cwd: ROOT },
        (error, stdout, stderr) => {
          resolve({
            code: typeof error?.code === 'number' ? error.code : error ? -1 : 0,
            stdout,
            stderr,
          });
        },
      );
    });

  it('prints the report and exits with 0', async () => {
    const done = await run(
      'tool-search-report',
      '--tools',
      file('tools', TOOLS),
      '--queries',
      file('queries', QUERIES),
    );

    expect(done).to.include({ code: 0, stderr: '' });
    expect(done.stdout).to.match(/^2 tools, 2 queries\nrecall@1 100\.0 %/);
  });

  it('prints the problem and the usage without a stack trace and exits with 2', async () => {
    for (const [args, message] of [
      [['tool-search-report'], 'give --tools and --queries'],
      [
        ['tool-search-report', '--tools', file('bad', '{'), '--queries', file('queries', QUERIES)],
        'bad, line 1: not JSON',
      ],
      [
        ['tool-search-report', '--tools', join(folder, 'nowhere'), '--queries', 'x'],
        'cannot be read',
      ],
      [['unknown-command'], ''],
    ] as const) {
      const { code, stdout, stderr } = await run(...args);

      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr)
        .to.include(message)
        .and.to.include('advisor-chain tool-search-report --tools')
        .and.not.match(/^\s+at /m);
    }
  });

  it('prints the usage without arguments and with --help', async () => {
    for (const args of [[], ['--help']]) {
      const { code, stdout, stderr } = await run(...args);

      expect(code).to.equal(0);
      expect(stdout + stderr).to.include('advisor-chain tool-search-report --tools');
    }
  });
});
