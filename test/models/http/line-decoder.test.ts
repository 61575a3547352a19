import { expect } from 'chai';
import { LineDecoder } from '../../../src/models/http/line-decoder.js';

function decode(pieces: readonly string[]): readonly string[] {
  const lines: string[] = [];
  const decoder = new LineDecoder((line) => lines.push(line));
  for (const piece of pieces) decoder.push(piece);
  decoder.end();
  return lines;
}

describe('LineDecoder', () => {
  const TEXT = '{"a":1}\n\n{"b":"ü"}\r\n{"c":3}';

  for (let size = 1; size <= TEXT.length; size++)
    it(`emits the same lines of pieces of ${size} characters`, () => {
      const pieces = TEXT.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

      const lines = decode(pieces).map((line) => JSON.parse(line) as unknown);

      expect(lines).to.deep.equal([{ a: 1 }, { b: 'ü' }, { c: 3 }]);
    });

  it('emits a line with the piece that ends it, and counts an unfinished one', () => {
    const lines: string[] = [];
    const decoder = new LineDecoder((line) => lines.push(line));

    decoder.push('{}\n{"a"');

    expect(lines).to.deep.equal(['{}']);
    expect(decoder.length).to.equal(4);
  });
});
