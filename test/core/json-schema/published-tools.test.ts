import { checkPublishedCalls, checkPublishedTools, SETS } from '../../support/published-tools.js';
import { requireToolsets } from '../../support/toolsets.js';

describe('normalizeSchema of published tools', () => {
  for (const set of SETS)
    it(`[F20] [F21] makes valid JSON Schema (every hundredth tool of ${set})`, function () {
      requireToolsets(this);

      checkPublishedTools(set, 100);
    });
});

describe('jsonSchemaValidator with published tools', () => {
  it('[F19] accepts the arguments that ajv accepts (every hundredth call of seal)', function () {
    requireToolsets(this);

    checkPublishedCalls('seal', 100);
  });
});
