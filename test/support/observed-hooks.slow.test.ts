import { expect } from 'chai';
import { runMocha } from './run-fixture.js';

describe('observed hooks', function () {
  this.timeout(20_000);
  this.slow(4_000);

  const observe = (fixture: string) =>
    runMocha(`observed/${fixture}`, { hooks: ['test/support/observed-hooks.ts'] });

  it('count the turns of tests', () => {
    const { exitCode, output } = observe('clean');

    expect(exitCode).to.equal(0, output);
    expect(output).to.include('observed: 3 spans of 1 turns of 1 tests');
  });

  it('fail a test that leaves a run open', () => {
    const { exitCode, output } = observe('open-run');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('turns that have not ended: 1');
  });

  it('fail a test whose spans end after their parents', () => {
    const { exitCode, output } = observe('clock-set-back');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('ends after "advisor tool-calling"');
  });

  it('fail a run without spans', () => {
    const { exitCode, output } = observe('nothing');

    expect(exitCode).to.equal(1);
    expect(output).to.include('no span was recorded');
  });
});
