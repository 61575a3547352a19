import { expect } from 'chai';
import {
  askFor,
  echo,
  expectBounded,
  expectListsOfLength,
  expectListsOfParts,
  parts,
  runOversized,
  textsOf,
} from '../../support/oversized-turns.js';

describe('truncated JSON lists', () => {
  for (const maxLength of [1, 2, 40, 97, 150, 233, 310, 420, 555])
    it(`[F98] are valid with a limit of ${maxLength} characters`, () =>
      expectListsOfLength(maxLength));

  for (const count of [1, 50, 400])
    it(`[F98] are valid with ${count} parts`, () => expectListsOfParts(count));

  for (const length of [10, 1_000, 7_900, 8_100, 9_000])
    it(`[F98] keep an entry of ${length} characters in part`, async () => {
      const numbers = `[${'1,'.repeat(length / 2)}2]`;
      const spans = await runOversized('call', {
        messages: [parts(length, 'a text')],
        script: askFor(`{"numbers":${numbers}}`),
        tools: [echo(() => numbers)],
      });
      const texts = ['gen_ai.input.messages', 'gen_ai.output.messages'].flatMap((list) =>
        textsOf(spans, list),
      );

      expectBounded(spans);
      expect(texts).to.not.include('[]');
      expect(texts.filter((text) => text.includes('numbers'))).to.not.be.empty;
    });
});
