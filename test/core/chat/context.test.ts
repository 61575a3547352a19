import { expect } from 'chai';
import { AdvisorContext, ContextKey, CONVERSATION_ID } from '../../../src/core/chat/context.js';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';

const COUNT = new ContextKey<number>('test.count', 0);
const NAME = new ContextKey<string | undefined>('test.name');

describe('AdvisorContext', () => {
  it('returns the default of an unset key', () => {
    expect(AdvisorContext.empty.get(COUNT)).to.equal(0);
    expect(AdvisorContext.empty.get(NAME)).to.equal(undefined);
    expect(AdvisorContext.empty.has(COUNT)).to.equal(false);
  });

  it('is unchanged by a copy with one more value', () => {
    const one = AdvisorContext.empty.with(COUNT, 1);

    const two = one.with(COUNT, 2).with(NAME, 'x');

    expect([one.get(COUNT), one.has(NAME)]).to.deep.equal([1, false]);
    expect([two.get(COUNT), two.get(NAME)]).to.deep.equal([2, 'x']);
    expect([...AdvisorContext.empty.entries()]).to.deep.equal([]);
  });

  it('keeps a value that is set to undefined or null', () => {
    const key = new ContextKey<string | null | undefined>('test.maybe', 'default');

    expect(AdvisorContext.empty.with(key, undefined).get(key)).to.equal(undefined);
    expect(AdvisorContext.empty.with(key, null).has(key)).to.equal(true);
  });

  it('returns the same objects that were set', () => {
    const value = { a: 1 };
    const key = new ContextKey<object>('test.object', {});

    expect(AdvisorContext.empty.with(key, value).get(key)).to.equal(value);
  });

  it('merges another context on top', () => {
    const base = AdvisorContext.empty.with(COUNT, 1).with(NAME, 'base');

    const merged = base.merge(AdvisorContext.empty.with(COUNT, 2));

    expect([...merged.entries()]).to.deep.equal([
      ['test.count', 2],
      ['test.name', 'base'],
    ]);
    expect(base.get(COUNT)).to.equal(1);
  });

  it('returns itself if a merge adds nothing', () => {
    const context = AdvisorContext.empty.with(COUNT, 1);

    expect(context.merge(AdvisorContext.empty)).to.equal(context);
    expect(context.merge(context)).to.equal(context);
    expect(AdvisorContext.empty.merge(context)).to.equal(context);
  });

  it('[F17] accepts names of Object.prototype members as keys', () => {
    const key = new ContextKey<string>('__proto__', 'default');

    expect(AdvisorContext.empty.get(new ContextKey('constructor', 'default'))).to.equal('default');
    expect(AdvisorContext.empty.with(key, 'x').get(key)).to.equal('x');
  });
});

describe('ContextKey', () => {
  it('[F82] equals another key with its name, also of a second copy of a package', () => {
    expect(
      AdvisorContext.empty.with(COUNT, 5).get(new ContextKey<number>('test.count', 0)),
    ).to.equal(5);
  });

  it('rejects a blank name', () => {
    expect(() => new ContextKey<undefined>(' ')).to.throw(
      InvalidArgumentError,
      'ContextKey: name must be a non-blank string',
    );
  });

  it('has no default for CONVERSATION_ID, which conversations must not share', () => {
    expect(CONVERSATION_ID.defaultValue).to.equal(undefined);
  });
});
