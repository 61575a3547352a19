import { checkSurelyValid, checkValidator } from '../support/schema-laws.js';
import { sweep } from '../support/sweep.js';

describe('isSurelyValid', function () {
  this.timeout(120_000);
  const cases = sweep(15_000);

  it(`[F19] never accepts what the validator rejects (${cases} cases)`, () => {
    checkSurelyValid(cases);
  });
});

describe('jsonSchemaValidator', function () {
  this.timeout(120_000);
  const schemas = sweep(1_000);

  it(`[F19] accepts what ajv accepts, except for patterns (${schemas} schemas, 10 values each)`, () => {
    checkValidator(schemas);
  });
});
