import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs mocha in a process of its own, because the run under test is meant to fail. */
function runMocha(fixture: string): { exitCode: number | null; output: string } {
  const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--node-option', 'import=tsx', '--require', 'test/hooks.ts'];
  const run = spawnSync(process.execPath, [...mocha, `test/fixtures/hooks/${fixture}.ts`], { cwd: root, encoding: 'utf8' });
  return { exitCode: run.status, output: run.stdout + run.stderr };
}

describe('the root hooks', function () {
  this.timeout(20_000);
  this.slow(4_000);

  it('fail the test that leaves a rejection unhandled', () => {
    const { exitCode, output } = runMocha('unhandled-rejection');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('lost on purpose');
  });

  it('fail the test that adds too many listeners', () => {
    const { exitCode, output } = runMocha('listener-leak');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('MaxListenersExceededWarning');
  });

  it('fail the run for a rejection after the last test', () => {
    const { exitCode, output } = runMocha('late-rejection');

    expect(exitCode).to.equal(1);
    expect(output).to.include('lost late on purpose');
  });

  it('leave a clean run green', () => {
    const { exitCode, output } = runMocha('clean');

    expect(exitCode).to.equal(0, output);
  });
});
