import { expect } from 'chai';
import { textOf } from '../../../src/core/chat/message.js';
import { defineTool } from '../../../src/core/tool/define-tool.js';
import { toolResult } from '../../../src/core/tool/tool-result.js';
import { runBatch } from '../../support/batch.js';

const LIMIT = 1_000;
const LONG = 'x'.repeat(3_000);

/** Values whose text is longer than the limit, with the beginning and the end of that text. */
const values: Record<string, readonly [value: unknown, start: string, end: string]> = {
  'a text': [`<${LONG}>`, '<xx', 'xx>'],
  'an object': [{ first: 1, text: LONG, last: 2 }, '{"first":1,"text":"xx', 'xx","last":2}'],
  'a list': [Array.from({ length: 2_000 }, (_, at) => at), '[0,1,2,', ',1998,1999]'],
  'an object with a long key': [{ [LONG]: true }, '{"xx', 'xx":true}'],
  'many small properties': [
    Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, at])),
    '{"k0":0,',
    '"k499":499}',
  ],
  'nested objects': [{ a: [{ b: { c: LONG } }] }, '{"a":[{"b":{"c":"xx', 'xx"}}]}'],
  'a value with toJSON': [{ toJSON: () => [LONG, 7] }, '["xx', 'xx",7]'],
};

describe('the size of a result', () => {
  for (const [title, [value, start, end]] of Object.entries(values))
    it(`[F32] is limited for the model alone: ${title}`, async () => {
      const tool = defineTool({ name: 'tool', execute: () => value });
      const { contents, results } = await runBatch([tool], ['tool'], { maxResultLength: LIMIT });

      const [content] = contents as readonly string[];
      const [first = '', last = ''] = content?.split(/\n\[\d+ of \d+ characters cut\]\n/) ?? [];
      expect(first.startsWith(start), first.slice(0, 40)).to.equal(true);
      expect(last.endsWith(end), last.slice(-40)).to.equal(true);
      expect(first.length + last.length).to.equal(LIMIT);
      expect(results[0]?.result.value).to.equal(value);
    });

  it('[F32] is limited for all text parts of a content together', async () => {
    const part = (text: string) => ({ type: 'text', text }) as const;
    const content = [part('a'.repeat(800)), part('b'.repeat(800))];
    const tool = defineTool({ name: 'tool', execute: () => toolResult({ content }) });
    const { messages } = await runBatch([tool], ['tool'], { maxResultLength: LIMIT });

    const text = textOf(messages[0]?.content ?? '').replaceAll(
      /\n?\[\d+ of \d+ characters cut\]\n?/g,
      '',
    );
    expect(text.replaceAll(/[^ab]/g, '')).to.have.length(LIMIT);
  });
});
