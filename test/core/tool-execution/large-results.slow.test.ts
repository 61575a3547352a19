import { expect } from 'chai';
import { defineTool, ToolOutputError, toolResult, type ToolResult } from '../../../src/index.js';
import { runBatch } from '../../support/batch.js';

const MB = 1_000_000;

/** The content and the result of a call. */
async function resultOf(
  execute: () => unknown,
  options: Parameters<typeof runBatch>[2] = {},
  settings: Partial<Parameters<typeof defineTool>[0]> = {},
): Promise<{ readonly content: string; readonly result: ToolResult | undefined }> {
  const tool = defineTool({ name: 'tool', effect: 'write', ...settings, execute });
  const { contents, results } = await runBatch([tool], ['tool'], options);
  return { content: contents[0] as string, result: results[0]?.result };
}

/** A value of which nothing beyond the limit is read, counted by its getters. */
function counted(length: number): { readonly items: object; readonly read: () => number } {
  let read = 0;
  const item = Object.defineProperty({}, 'text', {
    enumerable: true,
    get: () => (read++, 'x'.repeat(MB)),
  });
  return { items: Array.from({ length }, () => item), read: () => read };
}

describe('a result that is larger than any model reads', () => {
  it('[D52] is not read to its end', async () => {
    const { items, read } = counted(2_000);

    const { content, result } = await resultOf(() => ({ items }));

    expect(read()).to.be.below(20);
    expect(content.length).to.be.below(101_000);
    expect(content).to.include('[too large: left out after 4000000 characters]');
    expect(result).to.not.have.property('isError');
    expect(result?.value).to.have.property('items', items);
  });

  it('[D52] that no string could hold does not fail a tool with an effect', async () => {
    const text = 'x'.repeat(400 * MB);

    const { content, result } = await resultOf(() => ({ a: text, b: text, c: 'end' }));

    expect(result).to.not.have.property('isError');
    expect(content).to.include('characters cut]');
  });

  const sources: Readonly<Record<string, () => unknown>> = {
    'a map': () => new Map(Array.from({ length: 300_000 }, (_, at) => [at, at])),
    'a list': () => Array.from({ length: 300_000 }, () => []),
    fields: () => Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`k${at}`, at])),
    'long keys': () => ({ ['k'.repeat(5 * MB)]: 1, b: 2 }),
    'a result with a value': () => toolResult({ value: ['x'.repeat(5 * MB), 1] }),
  };
  for (const [what, execute] of Object.entries(sources)) {
    it(`[D52] is cut, with a note of the limit: ${what}`, async () => {
      const { content, result } = await resultOf(execute);

      expect(content.length).to.be.below(101_000);
      expect(content).to.match(/too large: left out after 4000000 characters|characters cut/);
      expect(result).to.not.have.property('isError');
    });
  }

  it('[D52] is written as far as maxResultLength asks for', async () => {
    const value = ['x'.repeat(5 * MB), 'end'];

    const { content } = await resultOf(() => value, { maxResultLength: 6 * MB });

    expect(content).to.equal(JSON.stringify(value));
  });

  it('[D52] has run, as the model reads, if its schema cannot check all of it', async () => {
    const { items, read } = counted(2_000);

    const { content, result } = await resultOf(() => ({ items }), {}, { output: {} });

    expect(content).to.equal(
      'The tool "tool" has run, but its result cannot be shown (more than 4000000 characters). Do not call it again for this.',
    );
    expect(result?.error).to.include({ limit: 'result-length', option: 'maxResultLength' });
    expect(read()).to.be.below(20);
  });

  it('[D43] has run, as the model reads, if its check takes too many steps', async () => {
    const output = { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } };
    const list = Array.from({ length: 100 }, (_, at) => at);

    const { content, result } = await resultOf(() => list, { maxCheckSteps: 100 }, { output });

    expect(content).to.include('has run, but its result cannot be shown');
    expect(result?.error).to.be.instanceOf(ToolOutputError);
    expect(result?.error).to.have.nested.include({ 'cause.option': 'maxCheckSteps' });
  });
});
