import { expect } from 'chai';
import { CheckSteps, EXCEEDED, MAX_CHECK_STEPS } from '../../src/json-schema/check-steps.js';
import { BoundedValidator } from '../../src/json-schema/bounded-validator.js';

const steps = (): CheckSteps => new CheckSteps(MAX_CHECK_STEPS);

const objects = (length: number): readonly object[] =>
  Array.from({ length }, (_, id) => ({ id, kind: 'a', tag: 'b' }));

describe('BoundedValidator', () => {
  it('throws for a schema that it cannot use', () => {
    const validator = new BoundedValidator({ $ref: '#/$defs/missing' });

    expect(() => validator.validate(1, steps())).to.throw('Unresolved $ref');
  });

  for (const [what, list] of [
    ['objects', objects(500)],
    ['texts', Array.from({ length: 2000 }, (_, at) => `text ${at}`)],
  ] as const)
    it(`[D43] compares the ${what} of a long list once, and gives up when they are compared again and again`, () => {
      const once = new BoundedValidator({ uniqueItems: true });
      const again = new BoundedValidator({
        allOf: Array.from({ length: 10 }, () => ({ uniqueItems: true })),
      });

      expect(once.validate(list, steps())).to.deep.equal([]);
      expect(() => again.validate(list, steps())).to.throw(EXCEEDED.message);
    });

  it('[D43] compares a list whatever else the value has', () => {
    const others = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, at]));
    const validator = new BoundedValidator({ properties: { list: { uniqueItems: true } } });

    expect(validator.validate({ others, list: objects(300) }, steps())).to.deep.equal([]);
  });

  it('[D43] finds equal items of a long list without objects', () => {
    const list = Array(2000).fill(null);

    expect(new BoundedValidator({ uniqueItems: true }).validate(list, steps())).to.have.length(1);
  });
});
