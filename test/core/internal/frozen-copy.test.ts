import { expect } from 'chai';
import { frozenCopy, ownCopy } from '../../../src/core/internal/frozen-copy.js';

/** Values whose outer objects are frozen, and whose inner ones are not. */
const HALF_FROZEN: Readonly<Record<string, () => { readonly inner: unknown[] }>> = {
  'an object': () => Object.freeze({ inner: ['a'] }),
  'an object in a list': () => {
    const [value] = Object.freeze([Object.freeze({ inner: ['a'] })]);
    return value as { readonly inner: unknown[] };
  },
  'an object with a cycle': () => {
    const value: Record<string, unknown> = { inner: ['a'] };
    value['self'] = value;
    return Object.freeze(value) as { readonly inner: unknown[] };
  },
};

describe('frozenCopy', () => {
  for (const [what, make] of Object.entries(HALF_FROZEN))
    it(`[F76] is not changed through what ${what} holds that is frozen at its surface only`, () => {
      const value = make();

      const copy = frozenCopy(value);
      value.inner.push('b');

      expect(copy.inner).to.deep.equal(['a']);
      expect(() => copy.inner.push('c')).to.throw(TypeError);
    });

  it('shares what is frozen to its ground', () => {
    const value = Object.freeze({ inner: Object.freeze(['a']) });

    expect(frozenCopy(value)).to.equal(value);
  });
});

describe('ownCopy', () => {
  it('[F76] may be changed at any depth, and leaves the value as it was', () => {
    const value = frozenCopy({ inner: [{ list: [] as unknown[] }] });

    const copy = ownCopy(value);
    copy.inner[0]?.list.push('b');
    copy.inner.push({ list: [] });

    expect(value).to.deep.equal({ inner: [{ list: [] }] });
    expect(copy).to.deep.equal({ inner: [{ list: ['b'] }, { list: [] }] });
  });
});
