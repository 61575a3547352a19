import { expect } from 'chai';
import { Pattern } from '../../../src/stores/tool-indexes/pattern.js';
import {
  expectMatchesOfRegExp,
  expectPatternsOrRejections,
  randomLetters,
} from '../../support/patterns.js';

describe('Pattern, at length', function () {
  this.timeout(120_000);

  it('matches the same texts as RegExp', () => {
    expectMatchesOfRegExp(5_000);
  });

  it('throws nothing but InvalidArgumentError, for any text', () => {
    expectPatternsOrRejections(5_000);
  });

  for (const source of [
    '^get_.*(user|account)',
    '.*user.*',
    '(get|list|find)_?(user|account|member)s?$',
    String.raw`\b(get|list)\b.*(user|account)`,
    '[a-z]+_user',
    '(create|update|delete|list|get|search)_.*(user|account)',
  ])
    it(`searches 10,000 tools for ${source}`, () => {
      const pattern = new Pattern(source);

      for (let at = 0; at < 10_000; at++)
        expect(pattern.test(randomLetters(230, 'etaoinshrdlucmgy_ .', at + 1))).to.be.a('boolean');
    });
});
