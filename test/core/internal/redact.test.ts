import { expect } from 'chai';
import { redact, withoutSecrets } from '../../../src/core/internal/redact.js';
import { everythingIn } from '../../support/everything-in.js';

const KEY = 'canary-key-4711-abcdef';

describe('redact', () => {
  const texts: readonly (readonly [text: string, shown: string])[] = [
    ['key sk-proj-0123456789abcdef.', 'key ***.'],
    ['gsk_0123456789abcdefgh', '***'],
    ['AIzaSyA0123456789abcdefghijklmnop', '***'],
    ['Authorization: Bearer abcdefghijkl.mnop', 'Authorization: ***'],
    ['fetch http://user:pass@host/v1', 'fetch http:***host/v1'],
    ['no Bearer token given', 'no Bearer token given'],
    ['risk-averse-and-otherwise-fine', 'risk-averse-and-otherwise-fine'],
    ['ask me@example.org', 'ask me@example.org'],
  ];
  for (const [text, shown] of texts) {
    it(`turns ${JSON.stringify(text)} into ${JSON.stringify(shown)}`, () => {
      expect(redact(text, [])).to.equal(shown);
    });
  }
});

describe('withoutSecrets', () => {
  it('returns an error without secrets unchanged', () => {
    const error = new Error('x', { cause: new Error('y') });

    expect(withoutSecrets(error, [KEY])).to.equal(error);
  });

  it('copies name, code, message, stack and causes without secrets', () => {
    const cause = Object.assign(new TypeError(`inner ${KEY}`), { code: 'ECONNRESET' });
    const copy = withoutSecrets(Object.assign(new Error('outer', { cause }), { code: 7 }), [
      KEY,
    ]) as Error;

    expect(everythingIn(copy)).to.not.include(KEY);
    expect(copy).to.be.instanceOf(Error).and.include({ name: 'Error', message: 'outer' });
    expect(copy.cause).to.include({
      name: 'TypeError',
      message: 'inner ***',
      code: 'ECONNRESET',
    });
  });

  it('finds secrets at any depth, in lists and in cycles', () => {
    const error = Object.assign(new Error('x'), {
      request: { list: [{ headers: new Map([['a', KEY]]) }] },
      self: {},
    });
    error.self = error;

    expect(everythingIn(withoutSecrets(error, [KEY]))).to.not.include(KEY);
  });

  it('copies an error that is too large to search', () => {
    const error = Object.assign(new Error('x'), {
      all: Array.from({ length: 5_000 }, (_, at) => ({ at })),
    });

    expect(withoutSecrets(error, [KEY])).to.not.equal(error);
  });

  it('redacts values that are not errors', () => {
    expect(withoutSecrets(`a ${KEY}`, [KEY])).to.equal('a ***');
    expect(everythingIn(withoutSecrets({ key: KEY }, [KEY]))).to.not.include(KEY);
    expect(withoutSecrets(undefined, [KEY])).to.equal(undefined);
  });
});
