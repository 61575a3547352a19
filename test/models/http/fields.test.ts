import { expect } from 'chai';
import { argumentsText, usageOf, withExtra } from '../../../src/models/http/fields.js';

describe('fields of all wires', () => {
  it('reads a usage, of which any count may be absent or no number', () => {
    const counts = [
      usageOf({ input: 2, output: 3, cached: 1, written: 0, reasoning: 2 }),
      usageOf({ input: undefined, output: 3, total: 9, cached: 'many' }),
      usageOf({ input: null, output: -1, cached: 4 }),
    ];

    expect(counts).to.deep.equal([
      {
        inputTokens: 2,
        outputTokens: 3,
        totalTokens: 5,
        cachedInputTokens: 1,
        cacheWriteTokens: 0,
        reasoningTokens: 2,
      },
      { inputTokens: 0, outputTokens: 3, totalTokens: 9 },
      undefined,
    ]);
  });

  it('merges the objects of an extra body that are named, and replaces all others', () => {
    const fields = { config: { a: 1, inner: { b: 2 } }, choice: { type: 'tool', name: 'f' } };
    const extra = { config: { inner: { c: 3 } }, choice: { type: 'any' }, more: 4 };

    expect(withExtra(fields, extra, ['config', 'inner'])).to.deep.equal({
      config: { a: 1, inner: { b: 2, c: 3 } },
      choice: { type: 'any' },
      more: 4,
    });
    expect(withExtra(fields)).to.deep.equal(fields);
  });

  it('writes arguments as text, for a function without parameters as an object', () => {
    const texts = [{ a: 1 }, '{"a":', '', null, undefined].map(argumentsText);

    expect(texts).to.deep.equal(['{"a":1}', '{"a":', '{}', '{}', '{}']);
  });
});
