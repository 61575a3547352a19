import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PROGRAM = ['--import', 'tsx', 'src/cli/main.ts', 'tool-search-report'];

describe('advisor-chain tool-search-report as a program', function () {
  this.timeout(60_000);
  this.slow(10_000);

  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [...PROGRAM, ...args], { cwd: ROOT, encoding: 'utf8' });

  it('prints the usage with --help', () => {
    const { status, stdout } = run('--help');

    expect(status).to.equal(0);
    expect(stdout).to.include('advisor-chain tool-search-report --tools');
  });

  it('prints the problem without a stack trace and exits with 1', () => {
    const { status, stdout, stderr } = run('--tools', 'nowhere', '--queries', 'nowhere');

    expect([status, stdout]).to.deep.equal([1, '']);
    expect(stderr)
      .to.include('nowhere cannot be read')
      .and.not.match(/^\s+at /m);
  });
});
