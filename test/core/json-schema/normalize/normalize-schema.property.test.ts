import { checkMeaning, checkNormalizing } from '../../../support/schema-laws.js';
import { sweep } from '../../../support/sweep.js';

describe('normalizeSchema', function () {
  this.timeout(120_000);
  const [schemas, legal] = [sweep(10_000), sweep(500)];

  it(`[F20] [F21] makes any schema valid JSON Schema or rejects it (${schemas} cases)`, () => {
    checkNormalizing(schemas);
  });

  it(`does not change the meaning of a legal schema (${legal} schemas, 10 values each)`, () => {
    checkMeaning(legal);
  });
});
