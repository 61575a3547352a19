import { expect } from 'chai';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import {
  compatibilityReport,
  type PublishedTool,
} from '../../../src/core/json-schema/compatibility-report.js';
import { objectSchema } from '../../support/schema-cases.js';

const text = { type: 'string' };

describe('compatibilityReport', () => {
  const report = compatibilityReport([
    { name: 'fine', description: 'Does it.', inputSchema: objectSchema({ a: text }) },
    { name: 'normalized', description: 'Does it.', inputSchema: { type: 'dict', properties: {} } },
    {
      name: 'adapted',
      description: 'Does it.',
      inputSchema: objectSchema({ a: { type: 'array' } }),
    },
    {
      name: 'rejected',
      description: 'Does it.',
      inputSchema: objectSchema({ a: { type: 'Quaternion' } }),
    },
    { name: 'maps.search', inputSchema: undefined },
    { name: 'fine', description: ' ', inputSchema: objectSchema({}) },
  ]);

  it('lists the changes of each tool, or why it is rejected', () => {
    expect(
      report.tools.map(({ name, changes, rejected }) => [
        name,
        changes.map(({ path }) => path),
        rejected !== undefined,
      ]),
    ).to.deep.equal([
      ['fine', [], false],
      ['normalized', ['#/type'], false],
      ['adapted', ['#/properties/a'], false],
      ['rejected', [], true],
      ['maps.search', ['#', '#'], false],
      ['fine', [], false],
    ]);
  });

  it('notes unportable names, repeated names and missing descriptions', () => {
    expect(report.tools.map(({ notes }) => notes)).to.deep.equal([
      ['2 tools have this name'],
      [],
      [],
      [],
      [
        'providers do not accept the name "maps.search": 1 to 64 letters, digits, "_" or "-"',
        'it has no description; the model has to guess from the name',
      ],
      ['2 tools have this name', 'it has no description; the model has to guess from the name'],
    ]);
  });

  it('counts the outcomes and formats them as text', () => {
    expect(report.counts).to.deep.equal({
      tools: 6,
      unchanged: 0,
      normalized: 1,
      adapted: 2,
      rejected: 1,
      noted: 3,
    });
    const lines = String(report).split('\n');
    expect(lines[0]).to.match(
      /^6 tools: 0 unchanged, 1 not JSON Schema and normalized, 2 legal and adapted, 1 rejected, 3 with notes$/,
    );
    expect(lines).to.include(
      '"normalized" #/type: "dict" is not a type of JSON Schema; changed it to {"type":"object"}',
    );
    expect(lines.filter((line) => line.startsWith('rejected: tool "rejected": '))).to.have.length(
      1,
    );
    expect(lines).to.have.length(1 + 1 + 5 + 4);
  });

  it('never fails because of one tool', () => {
    const odd = [
      { name: undefined, inputSchema: 1 },
      { name: 5 },
      { name: 'x', description: 4, inputSchema: { type: 'object', properties: 'x' } },
    ];

    expect(compatibilityReport(odd as unknown as PublishedTool[]).counts.rejected).to.equal(2);
    expect(String(compatibilityReport([]))).to.match(/^0 tools/);
  });

  for (const wrong of [undefined, 'x', [null], {}])
    it(`rejects ${JSON.stringify(wrong)} instead of tools`, () => {
      expect(() => compatibilityReport(wrong as unknown as PublishedTool[])).to.throw(
        InvalidArgumentError,
        'must be an array of tools',
      );
    });
});
