import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { runFixture, type FixtureReport } from '../../support/run-fixture.js';

const answers = ['done', 'done', 'done', 'done'];
const { version } = JSON.parse(
  readFileSync(
    new URL('../../../node_modules/@opentelemetry/api/package.json', import.meta.url),
    'utf8',
  ),
) as { readonly version: string };

describe('@opentelemetry/api', function () {
  this.timeout(60_000);

  it('[F99] warns once of an older copy that has a registration', () => {
    const report = runFixture('observability/older-api', '1.4.0', 'trace', 'metrics');

    expect(report).to.include({ isRecorded: false });
    expect(report['answers']).to.deep.equal(['done', 'done', 'done', 'done']);
    expect(report['warnings']).to.have.length(1);
    expect(String(report['warnings']))
      .to.include('@opentelemetry/api 1.4.0')
      .and.include('npm ls @opentelemetry/api');
  });

  it('[F99] fails each turn with the name and range of the package if it is not installed', () => {
    const { unhandled, failures } = runFixture('observability/without-api', 'turns');

    expect(unhandled).to.deep.equal([]);
    expect(failures).to.have.length(2);
    for (const { message, isArgument, code } of failures as readonly FixtureReport[]) {
      expect(message).to.match(/InvalidArgumentError: .*@opentelemetry\/api@\^1\.9/);
      expect({ isArgument, code }).to.deep.equal({ isArgument: true, code: 'invalid_argument' });
    }
  });

  it('[F102] sends nothing without an SDK', () => {
    expect(runFixture('observability/no-network')).to.deep.equal({
      answers: ['done', 'done'],
      opened: [],
    });
  });

  for (const kind of ['trace', 'metrics'])
    it(`[F99] warns once of an older copy that registered ${kind}`, () => {
      const report = runFixture('observability/older-api', '1.4.0', kind);

      expect(report).to.deep.include({ answers, isRecorded: false });
      expect(report['warnings']).to.have.length(1);
    });

  for (const registered of [version.replace(/\d+$/, '0'), '1.999.0'])
    it(`[F99] records with version ${registered} without a warning`, () => {
      expect(runFixture('observability/older-api', registered, 'trace', 'metrics')).to.deep.equal({
        answers,
        warnings: [],
        isRecorded: true,
      });
    });

  it('[F99] does not warn of an older copy without a registration', () => {
    expect(runFixture('observability/older-api', '1.4.0')).to.deep.equal({
      answers,
      warnings: [],
      isRecorded: false,
    });
  });

  it('[F99] does not affect a process that only creates an advisor without the package', () => {
    expect(runFixture('observability/without-api')).to.deep.equal({ unhandled: [], failures: [] });
  });

  it('[F102] detects network access in the check of network access', () => {
    expect(runFixture('observability/no-network', 'check')).to.deep.equal({
      answers: ['done', 'done'],
      opened: ['connect'],
    });
  });
});
