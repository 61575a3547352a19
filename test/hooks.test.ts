import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs mocha in a process of its own, because the run under test is meant to fail. */
function runMocha(fixture: string, ...hooks: readonly string[]): { exitCode: number | null; output: string } {
  const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--node-option', 'import=tsx'];
  const required = ['test/hooks.ts', ...hooks].flatMap((file) => ['--require', file]);
  const run = spawnSync(process.execPath, [...mocha, ...required, `test/fixtures/${fixture}.ts`], { cwd: root, encoding: 'utf8' });
  return { exitCode: run.status, output: run.stdout + run.stderr };
}

describe('the root hooks', function () {
  this.timeout(20_000);
  this.slow(4_000);

  it('fail the test that leaves a rejection unhandled', () => {
    const { exitCode, output } = runMocha('hooks/unhandled-rejection');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('lost on purpose');
  });

  it('fail the test that adds too many listeners', () => {
    const { exitCode, output } = runMocha('hooks/listener-leak');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('MaxListenersExceededWarning');
  });

  it('fail the run for a rejection after the last test', () => {
    const { exitCode, output } = runMocha('hooks/late-rejection');

    expect(exitCode).to.equal(1);
    expect(output).to.include('lost late on purpose');
  });

  it('leave a clean run green', () => {
    const { exitCode, output } = runMocha('hooks/clean');

    expect(exitCode).to.equal(0, output);
  });
});

describe('the hooks that observe', function () {
  this.timeout(20_000);
  this.slow(4_000);

  const observe = (fixture: string) => runMocha(`observed/${fixture}`, 'test/observed-hooks.ts');

  it('count the turns of tests, and leave them green', () => {
    const { exitCode, output } = observe('clean');

    expect(exitCode).to.equal(0, output);
    expect(output).to.include('observed: 3 spans of 1 turns of 1 tests');
  });

  it('fail the test that leaves a run open', () => {
    const { exitCode, output } = observe('open-run');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('turns that have not ended: 1');
  });

  it('fail the test whose spans are not within their parents', () => {
    const { exitCode, output } = observe('clock-set-back');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('ends after "advisor tool-calling"');
  });

  it('fail a run that has observed nothing', () => {
    const { exitCode, output } = observe('nothing');

    expect(exitCode).to.equal(1);
    expect(output).to.include('not one span was recorded');
  });
});
