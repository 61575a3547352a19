import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import fc from 'fast-check';
import { fuzz } from './fuzz.js';

describe('a property for fuzzing', () => {
  const path = mkdtempSync(join(tmpdir(), 'fuzz-'));
  const folder = pathToFileURL(`${path}/`);
  const { FUZZ } = process.env;
  after(() => {
    process.env['FUZZ'] = FUZZ ?? '';
    rmSync(path, { recursive: true });
  });
  const isShort = fc.property(fc.string({ minLength: 3 }), (text) => text.length < 3);

  it('keeps its finds, and checks them first', () => {
    process.env['FUZZ'] = 'true';
    const check = (): void => fc.assert(isShort, fuzz('short', 100, folder));

    expect(check).to.throw(/Property failed after 1 tests[^]*seed[^]*Counterexample/);
    const { examples } = fuzz<[string]>('short', 100, folder);

    expect(examples).to.have.length(1);
    expect(examples?.[0]?.[0]).to.have.length(3);
  });

  it('keeps nothing in other test runs', () => {
    process.env['FUZZ'] = '';
    expect(() => fc.assert(isShort, fuzz('other', 100, folder))).to.throw('Counterexample');

    expect(fuzz('other', 100, folder).examples).to.deep.equal([]);
  });
});
