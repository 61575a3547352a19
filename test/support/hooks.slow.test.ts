import { expect } from 'chai';
import { runMocha } from './run-fixture.js';

describe('root hooks', function () {
  this.timeout(20_000);
  this.slow(4_000);

  it('fail a test that leaves a rejection unhandled', () => {
    const { exitCode, output } = runMocha('hooks/unhandled-rejection');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('lost on purpose');
  });

  it('fail a test that adds too many listeners', () => {
    const { exitCode, output } = runMocha('hooks/listener-leak');

    expect(exitCode).to.equal(1);
    expect(output).to.include('1 failing').and.to.include('MaxListenersExceededWarning');
  });

  it('fail the run on a rejection after the last test', () => {
    const { exitCode, output } = runMocha('hooks/rejection-after-tests');

    expect(exitCode).to.equal(1);
    expect(output).to.include('rejected after the last test on purpose');
  });

  it('fail a parallel run on a rejection after the last test of a file', () => {
    const { exitCode, output } = runMocha('hooks/rejection-after-tests', { flags: ['--parallel'] });

    expect(exitCode).to.equal(1);
    expect(output).to.include('rejected after the last test on purpose');
  });

  it('do not fail a clean run', () => {
    const { exitCode, output } = runMocha('hooks/clean');

    expect(exitCode).to.equal(0, output);
  });
});
