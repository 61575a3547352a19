import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { runFixture } from '../support/run-fixture.js';

const answers = ['done', 'done', 'done', 'done'];
const { version } = JSON.parse(
  readFileSync(
    new URL('../../node_modules/@opentelemetry/api/package.json', import.meta.url),
    'utf8',
  ),
) as { readonly version: string };

describe('@opentelemetry/api', function () {
  this.timeout(60_000);

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
