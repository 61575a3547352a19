import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Attribute, EventName, Metric } from '../../src/observability/names.js';

const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
const named = new Set([...page.matchAll(/`((?:gen_ai|advisor_chain|server|error|exception)\.?[\w.]*)`/g)].map(([, name = '']) => name));

describe('docs/observability.md', () => {
  const all: readonly string[] = [...Object.values(Attribute), ...Object.values(EventName), ...Object.values(Metric)];

  it('names everything that is recorded', () => {
    expect(all.filter((name) => !named.has(name))).to.deep.equal([]);
  });

  it('names nothing that is not', () => {
    expect([...named].filter((name) => name.includes('.') && !all.includes(name))).to.deep.equal([]);
  });
});
