import { expect } from 'chai';
import type { Script } from '../../src/testing/index.js';
import { askFor, echo, expectBounded, parts, run, textsOf } from './bounded.js';

describe('a list in a span', function () {
  this.timeout(120_000);

  it('[F98] has lists of the form of the conventions, however short they are to be', async () => {
    const call = { name: 'echo', arguments: JSON.stringify({ numbers: Array.from({ length: 40 }, (_, at) => at) }) };
    const script: Script = [
      { text: 'Let me see what there is.', reasoning: 'Hm, hm.', toolCalls: [call, call] },
      { text: 'It is a long answer.' },
    ];
    const messages = [parts(3, 'a text of some length')];
    for (let maxContentLength = 1; maxContentLength <= 600; maxContentLength++) {
      const spans = await run('call', { script, messages, tools: [echo(() => ({ a: 'result' }))], options: { maxContentLength } });

      expectBounded(spans, maxContentLength);
    }
  });

  it('[F98] has lists of the form of the conventions for any number of parts', async () => {
    for (let count = 1; count <= 400; count += 7) {
      const toolCalls = Array.from({ length: count }, (_, at) => ({ name: 'echo', arguments: { at: `number ${at}` } }));
      const spans = await run('call', {
        messages: [parts(count, 'a text of some length')],
        script: [{ toolCalls }, 'done'],
        tools: [echo(() => 'ok')],
      });

      expectBounded(spans);
    }
  });

  it('[F98] tells of what there is, however much that is', async () => {
    for (const length of [10, 1_000, 4_000, 7_900, 8_000, 8_050, 8_100, 8_150, 8_200, 9_000, 100_000]) {
      const numbers = `[${'1,'.repeat(length / 2)}2]`;
      const spans = await run('call', {
        messages: [parts(length, 'a text')],
        script: askFor(`{"numbers":${numbers}}`),
        tools: [echo(() => numbers)],
      });
      const texts = [...textsOf(spans, 'gen_ai.input.messages'), ...textsOf(spans, 'gen_ai.output.messages')];

      const ofArguments = texts.filter((text) => text.includes('numbers'));

      expectBounded(spans);
      expect(texts, `${length}`).to.not.include('[]');
      expect(ofArguments, `${length}`).to.not.be.empty;
    }
  });
});
