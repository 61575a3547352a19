import { expect } from 'chai';
import { z } from 'zod';
import { AdvisorChainError } from '../../../src/core/errors/errors.js';
import { checkLater } from '../../../src/core/json-schema/check-later.js';
import * as evaluator from '../../../src/core/json-schema/validator.js';

const json = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };

describe('checkLater', () => {
  it('loads the evaluator of JSON Schema at the first check, once', async () => {
    let loads = 0;
    const check = checkLater(json, json, async () => {
      loads++;
      return evaluator;
    });
    const before = loads;

    expect(await check({ count: 1 })).to.deep.equal({ value: { count: 1 } });
    expect(await check({ count: 'a' })).to.deep.equal({
      issues: ['count: Instance type "string" is invalid. Expected "integer".'],
    });
    expect([before, loads]).to.deep.equal([0, 1]);
  });

  it('finds the evaluator by itself', async () => {
    expect(await checkLater(json, json)({})).to.have.property('issues');
  });

  it('loads nothing for a schema that checks values itself', async () => {
    const check = checkLater(z.object({ count: z.coerce.number() }), json, () => {
      throw new Error('must not load');
    });

    expect(await check({ count: '2' })).to.deep.equal({ value: { count: 2 } });
  });

  it('rejects with an error of its own while the evaluator cannot be loaded, and loads again', async () => {
    const cause = new TypeError('Failed to fetch dynamically imported module');
    let isOffline = true;
    const check = checkLater(json, json, async () => {
      if (isOffline) throw cause;
      return evaluator;
    });
    const failure: unknown = await check({ count: 1 }).catch((error: unknown) => error);
    isOffline = false;

    expect(failure).to.be.instanceOf(AdvisorChainError).with.property('cause', cause);
    expect(failure).to.have.property('code', 'invalid_argument');
    expect(await check({ count: 1 })).to.deep.equal({ value: { count: 1 } });
  });
});
