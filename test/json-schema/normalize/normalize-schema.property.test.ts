import { checkMeaning, checkNormalizing } from '../../support/schema-laws.js';

describe('normalizeSchema', () => {
  it('[F20] [F21] makes any schema valid JSON Schema or rejects it (300 cases)', () => {
    checkNormalizing(300);
  });

  it('does not change the meaning of a legal schema (20 schemas, 10 values each)', () => {
    checkMeaning(20);
  });
});
