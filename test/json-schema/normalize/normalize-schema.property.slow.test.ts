import { checkMeaning, checkNormalizing } from '../../support/schema-laws.js';

describe('normalizeSchema', function () {
  this.timeout(120_000);

  it('[F20] [F21] makes any schema valid JSON Schema or rejects it (10,000 cases)', () => {
    checkNormalizing(10_000);
  });

  it('does not change the meaning of a legal schema (400 schemas, 10 values each)', () => {
    checkMeaning(400);
  });
});
