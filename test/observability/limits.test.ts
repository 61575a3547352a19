import { expect } from 'chai';
import { ChatResponse, defineTool, ModelCallError, type Message } from '../../src/index.js';
import { MODES } from '../advisors/turn.js';
import { askFor, DEFAULT, echo, expectBounded, parts, run, textsOf, type Big } from './bounded.js';
import { LISTS } from './conventions.js';

const MEGABYTES = 64 * 2 ** 20;
const huge = 'x'.repeat(MEGABYTES);

/** A million small entries, 64 MB of JSON. */
function millionEntries(): string {
  const entries = Array.from({ length: 1_000_000 }, (_, at) => `"key ${String(at).padStart(20, '0')}":"${'v'.repeat(34)}"`);
  return `{${entries.join(',')}}`;
}

const error = Object.assign(new TypeError(huge), { stack: huge });
const many = Array.from({ length: 10_000 }, (_, at): Message => ({ role: 'user', content: `message ${at} ${'y'.repeat(6_500)}` }));
const BIG: Readonly<Record<string, () => Big>> = {
  'a prompt of 64 MB': () => ({ prompt: huge }),
  'instructions of 64 MB': () => ({ system: huge }),
  'an answer of 64 MB': () => ({ script: [{ deltas: [huge] }] }),
  'reasoning of 64 MB': () => ({ script: [{ text: 'a', reasoning: huge }] }),
  '10,000 messages of 64 MB': () => ({ messages: many }),
  '100,000 parts of a message of 60 MB': () => ({ messages: [parts(100_000, 'z'.repeat(600))] }),
  'arguments of 64 MB with a million entries': () => ({ script: askFor(millionEntries()), tools: [echo(() => 'ok')] }),
  'arguments of 64 MB in one text': () => ({ script: askFor(JSON.stringify({ text: huge })), tools: [echo(() => 'ok')] }),
  'a result of 64 MB': () => ({ script: askFor('{}'), tools: [echo(() => huge)] }),
  'a description of 64 MB': () => ({ tools: [defineTool({ name: 'echo', description: huge, execute: () => 'ok' })] }),
  'an error of a model of 64 MB': () => ({ script: [error] }),
  'an error of a tool of 64 MB': () => ({
    script: askFor('{}'),
    tools: [echo(() => Promise.reject(error))],
  }),
  'the name of a tool that was made up of 64 MB': () => ({ script: [{ toolCalls: [{ name: huge, id: huge }] }, 'done'] }),
  'names and ids of 64 MB': () => ({
    model: huge,
    conversation: 'c'.repeat(2_000),
    script: [
      new ChatResponse({
        id: huge,
        model: huge,
        generations: [{ finishReason: huge, message: { role: 'assistant', text: 'a', toolCalls: [] } }],
      }),
    ],
  }),
  '100,000 alternatives': () => ({
    script: [
      new ChatResponse({
        generations: Array.from({ length: 100_000 }, () => ({
          finishReason: 'stop',
          message: { role: 'assistant', text: 'a', toolCalls: [] } as const,
        })),
      }),
    ],
  }),
  'attributes and a name of 64 MB by the application': () => ({
    options: { attributes: () => ({ text: huge, list: [huge, huge] }), spanName: () => huge },
  }),
  'a list of 100,000 attributes by the application': () => ({
    options: { attributes: { list: Array.from({ length: 100_000 }, () => 'item') } },
  }),
  'a code of an error of 64 MB': () => ({ script: [Object.assign(new ModelCallError('no'), { code: huge })] }),
};

for (const mode of MODES)
  describe(`a span of a ${mode}`, function () {
    this.timeout(120_000);

    for (const [what, big] of Object.entries(BIG))
      it(`[F98] is bounded: ${what}`, async () => {
        const spans = await run(mode, big());

        expectBounded(spans);
        expect(textsOf(spans, 'gen_ai.input.messages')).to.not.be.empty;
      });

    it('[F98] has as much of each as there is room for', async () => {
      const spans = await run(mode, {
        prompt: huge,
        messages: many,
        script: askFor(JSON.stringify({ text: huge })),
        tools: [echo(() => huge)],
      });
      const lengths = (attribute: string): readonly number[] => textsOf(spans, attribute).map(({ length }) => length);

      expect(lengths('gen_ai.tool.call.arguments')).to.deep.equal([DEFAULT]);
      for (const length of lengths('gen_ai.input.messages')) expect(length).to.be.above(DEFAULT / 4);
      expect(Math.max(...lengths('gen_ai.output.messages'))).to.be.above(DEFAULT / 4);
    });

    it('[F98] has the newest messages where there are too many', async () => {
      const spans = await run(mode, { messages: many.map((_, at) => ({ role: 'user', content: `message ${at}.` })) });
      const [recorded] = textsOf(spans, 'gen_ai.input.messages');

      expect(recorded).to.include('message 9999.').and.to.not.include('message 0.');
    });

    for (let shift = 0; shift < 4; shift++)
      it(`[F98] has no half of a character, ${shift} characters further on`, async () => {
        const text = 'a'.repeat(shift) + '😀'.repeat(10_000);
        const broken = Object.assign(new Error(text), { stack: text });
        const spans = await run(mode, {
          system: text,
          prompt: text,
          model: text,
          tools: [defineTool({ name: 'echo', description: text, execute: () => text })],
          script: [{ text, toolCalls: [{ name: 'echo', arguments: JSON.stringify({ text }) }] }, broken],
          options: { spanName: text, attributes: { text, list: [text] }, maxContentLength: 3_000 + shift },
        });

        expectBounded(spans, 3_000 + shift);
        expect(textsOf(spans, 'text')[0]).to.have.length.above(2_998);
      });

    it('[F98] is recorded where its content is nested too deep to be written', async () => {
      const args = '['.repeat(20_000) + ']'.repeat(20_000);
      const spans = await run(mode, { script: askFor(`{"a":${args}}`), tools: [echo(() => args)], options: { maxContentLength: 100_000 } });

      expect(spans.map(({ name }) => name)).to.have.members([
        'chat scripted',
        'execute_tool echo',
        'chat scripted',
        'advisor tool-calling',
        'invoke_agent',
      ]);
      for (const { attributes, name } of spans) expect(attributes['advisor_chain.outcome'], name).to.not.equal(undefined);
    });

    it('has numbers as they were written', async () => {
      const spans = await run(mode, { script: askFor('{"id":12345678901234567890}'), tools: [echo(() => '98765432109876543210')] });
      const said = LISTS.flatMap((list) => textsOf(spans, list)).join();

      expect(said).to.include('12345678901234567890').and.to.include('98765432109876543210');
    });
  });
