import { expect } from 'chai';
import { defineTool } from '../../../src/index.js';
import { MODES } from '../../support/modes.js';
import {
  askFor,
  DEFAULT,
  echo,
  expectBounded,
  manyMessages,
  oversizedTurns,
  runOversized,
  textsOf,
} from '../../support/oversized-turns.js';
import { LISTS } from '../../support/genai-schemas.js';

const SIZE = 2 ** 18;
const huge = 'x'.repeat(SIZE);
const many = manyMessages(SIZE);

for (const mode of MODES)
  describe(`ContentCapture of a ${mode} with oversized content`, () => {
    for (const [name, turn] of Object.entries(oversizedTurns(SIZE)))
      it(`[F98] limits ${name} of 256 kB`, async () => {
        const spans = await runOversized(mode, turn());

        expectBounded(spans);
        expect(textsOf(spans, 'gen_ai.input.messages')).to.not.be.empty;
      });

    it('[F98] uses the available room for each value', async () => {
      const spans = await runOversized(mode, {
        prompt: huge,
        messages: many,
        script: askFor(JSON.stringify({ text: huge })),
        tools: [echo(() => huge)],
      });
      const lengths = (attribute: string): readonly number[] =>
        textsOf(spans, attribute).map(({ length }) => length);

      expect(lengths('gen_ai.tool.call.arguments')).to.deep.equal([DEFAULT]);
      for (const length of lengths('gen_ai.input.messages'))
        expect(length).to.be.above(DEFAULT / 4);
      expect(Math.max(...lengths('gen_ai.output.messages'))).to.be.above(DEFAULT / 4);
    });

    it('[F98] keeps the newest of too many messages', async () => {
      const spans = await runOversized(mode, {
        messages: Array.from({ length: 10_000 }, (_, at) => ({
          role: 'user',
          content: `message ${at}.`,
        })),
      });
      const [recorded] = textsOf(spans, 'gen_ai.input.messages');

      expect(recorded).to.include('message 9999.').and.to.not.include('message 0.');
    });

    for (let shift = 0; shift < 4; shift++)
      it(`[F98] does not split surrogate pairs at an offset of ${shift}`, async () => {
        const text = 'a'.repeat(shift) + '😀'.repeat(10_000);
        const broken = Object.assign(new Error(text), { stack: text });
        const spans = await runOversized(mode, {
          system: text,
          prompt: text,
          model: text,
          tools: [defineTool({ name: 'echo', description: text, execute: () => text })],
          script: [
            { text, toolCalls: [{ name: 'echo', arguments: JSON.stringify({ text }) }] },
            broken,
          ],
          options: {
            spanName: text,
            attributes: { text, list: [text] },
            maxContentLength: 3_000 + shift,
          },
        });

        expectBounded(spans, 3_000 + shift);
        expect(textsOf(spans, 'text')[0]).to.have.length.above(2_998);
      });

    it('[F98] records content that is nested too deep for a JSON writer', async () => {
      const args = '['.repeat(20_000) + ']'.repeat(20_000);
      const spans = await runOversized(mode, {
        script: askFor(`{"a":${args}}`),
        tools: [echo(() => args)],
        options: { maxContentLength: 100_000 },
      });

      expect(spans.map(({ name }) => name)).to.have.members([
        'chat scripted',
        'execute_tool echo',
        'chat scripted',
        'advisor tool-calling',
        'invoke_agent',
      ]);
      for (const { attributes, name } of spans)
        expect(attributes['advisor_chain.outcome'], name).to.not.equal(undefined);
    });

    it('keeps numbers unchanged', async () => {
      const spans = await runOversized(mode, {
        script: askFor('{"id":0.12345678901234567890}'),
        tools: [echo(() => '98765432109876543210')],
      });
      const recorded = LISTS.flatMap((list) => textsOf(spans, list)).join();

      expect(recorded).to.include('12345678901234567890').and.to.include('98765432109876543210');
    });
  });
