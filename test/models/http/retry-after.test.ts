import { expect } from 'chai';
import { retryAfterOf } from '../../../src/models/http/retry-after.js';

describe('retryAfterOf', () => {
  const headers: readonly (readonly [
    title: string,
    headers: Record<string, string>,
    wait: number | undefined,
  ])[] = [
    ['no header', {}, undefined],
    ['seconds', { 'retry-after': '2' }, 2_000],
    ['parts of a second', { 'retry-after': ' 0.5 ' }, 500],
    ['milliseconds', { 'retry-after-ms': '30' }, 30],
    ['milliseconds before seconds', { 'retry-after-ms': '30', 'retry-after': '2' }, 30],
    ['milliseconds that are no number', { 'retry-after-ms': 'x', 'retry-after': '2' }, 2_000],
    ['a date in the past', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
    ['a negative time', { 'retry-after': '-5' }, 0],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
  ];
  for (const [title, given, wait] of headers) {
    it(`reads ${title}`, () => {
      expect(retryAfterOf(new Headers(given))).to.equal(wait);
    });
  }

  it('reads a future date', () => {
    const wait = retryAfterOf(
      new Headers({ 'retry-after': new Date(Date.now() + 10_000).toUTCString() }),
    );

    expect(wait).to.be.within(1, 10_000);
  });

  it('is undefined without headers', () => {
    expect(retryAfterOf(undefined)).to.equal(undefined);
  });
});
