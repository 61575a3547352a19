import { checkSurelyValid, checkValidator } from '../support/schema-laws.js';

describe('isSurelyValid', () => {
  it('[F19] never accepts what the validator rejects (300 cases)', () => {
    checkSurelyValid(300);
  });
});

describe('jsonSchemaValidator', () => {
  it('[F19] accepts what ajv accepts, except for patterns (20 schemas, 10 values each)', () => {
    checkValidator(20);
  });
});
