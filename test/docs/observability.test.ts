import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Attribute, EventName, Metric } from '../../src/core/observation/names.js';

const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
const named = new Set(
  [...page.matchAll(/`((?:gen_ai|advisor_chain|server|error|exception)\.?[\w.]*)`/g)].map(
    ([, name = '']) => name,
  ),
);

describe('docs/observability.md', () => {
  const all: readonly string[] = [
    ...Object.values(Attribute),
    ...Object.values(EventName),
    ...Object.values(Metric),
  ];

  it('names everything that is recorded', () => {
    expect(all.filter((name) => !named.has(name))).to.deep.equal([]);
  });

  it('has one attribute, event or metric in each row, and no long rows', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('|'));
    const [, attributes = ''] = page.split(/^## Attributes$|^## Events$/m);

    expect(rows.filter((row) => row.length > 160)).to.deep.equal([]);
    for (const row of attributes.split('\n').filter((line) => line.startsWith('| `')))
      expect(row).to.match(/^\| `[^`]+`( of a tool)? +\|/);
  });

  it('names nothing else', () => {
    expect([...named].filter((name) => name.includes('.') && !all.includes(name))).to.deep.equal(
      [],
    );
  });
});
