import { expect } from 'chai';
import { compatibilityReport } from '../../../src/core/json-schema/compatibility-report.js';
import { normalizeSchema } from '../../../src/core/json-schema/normalize/normalize-schema.js';
import { checkPublishedCalls, checkPublishedTools, SETS } from '../../support/published-tools.js';
import { readTools, requireToolsets } from '../../support/toolsets.js';

describe('normalizeSchema of published tools', function () {
  this.timeout(120_000);

  for (const set of SETS)
    it(`[F20] [F21] makes valid JSON Schema (all tools of ${set})`, function () {
      requireToolsets(this);

      const { rejected, all } = checkPublishedTools(set);

      expect(rejected / all).to.be.lessThan(0.01);
    });

  it('takes a fraction of a millisecond per tool', function () {
    requireToolsets(this);
    const tools = SETS.flatMap(readTools);

    const start = performance.now();
    for (const { name, inputSchema } of tools) normalizeSchema(inputSchema, name);
    const each = (performance.now() - start) / tools.length;

    console.log(`      ${tools.length} tools: ${(1_000 * each).toFixed(0)} µs each`);
    expect(tools).to.have.length(6_474);
    expect(each).to.be.lessThan(5);
  });
});

describe('compatibilityReport of published tools', () => {
  it('lists all of them', function () {
    requireToolsets(this);
    const tools = SETS.flatMap(readTools);

    const report = compatibilityReport(tools);

    console.log(`      ${String(report).split('\n', 1)[0] ?? ''}`);
    expect(report.tools.map(({ name }) => name)).to.deep.equal(tools.map(({ name }) => name));
    expect(report.counts.rejected).to.equal(0);
    expect(report.counts.normalized).to.be.greaterThan(1_800);
  });
});

describe('jsonSchemaValidator with published tools', function () {
  this.timeout(120_000);

  const calls: Readonly<Record<string, readonly [all: number, valid: number]>> = {
    'bfcl-live': [1_405, 1_227],
    'bfcl-v1': [1_747, 1_742],
    seal: [1_770, 1_720],
  };
  for (const [set, [all, valid]] of Object.entries(calls))
    it(`[F19] accepts the arguments that ajv accepts (all calls of ${set})`, function () {
      requireToolsets(this);

      const count = checkPublishedCalls(set);

      expect(count.valid + count.invalid).to.equal(all);
      expect(count.valid).to.be.at.least(valid);
    });
});
