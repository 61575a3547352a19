import { checkSurelyValid, checkValidator } from '../support/schema-laws.js';

describe('isSurelyValid', function () {
  this.timeout(120_000);

  it('[F19] never accepts what the validator rejects (15,000 cases)', () => {
    checkSurelyValid(15_000);
  });
});

describe('jsonSchemaValidator', function () {
  this.timeout(120_000);

  it('[F19] accepts what ajv accepts, except for patterns (1,000 schemas, 10 values each)', () => {
    checkValidator(1_000);
  });
});
