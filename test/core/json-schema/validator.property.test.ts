import { checkVerdicts, checkValidator } from '../../support/schema-laws.js';
import { sweep } from '../../support/sweep.js';

describe('SchemaCheck', function () {
  this.timeout(120_000);
  const cases = sweep(15_000);

  it(`[F19] decides as another validator does (${cases} cases)`, () => {
    checkVerdicts(cases);
  });
});

describe('jsonSchemaValidator', function () {
  this.timeout(120_000);
  const schemas = sweep(1_000);

  it(`[F19] accepts what ajv accepts, except for patterns (${schemas} schemas, 10 values each)`, () => {
    checkValidator(schemas);
  });
});
