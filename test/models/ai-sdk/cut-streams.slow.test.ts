import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { expect } from 'chai';
import { IncompleteResponseError, ModelCallError, Prompt } from '../../../src/index.js';
import { AiSdkChatModel } from '../../../src/models/ai-sdk/index.js';
import { lastOf } from '../../support/recording-replay.js';
import { chunk, WireServer } from '../../support/wire-server.js';

const TEXT = 'Wörter 🙂 end';
const BODY = Buffer.from(
  [
    chunk({ role: 'assistant', content: 'Wörter ' }),
    chunk({ content: '🙂 end' }),
    chunk({}, 'stop'),
    '[DONE]',
  ]
    .map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
    .join(''),
);

describe('AiSdkChatModel, at every byte at which a stream may be cut', () => {
  it('has the whole answer or a typed error', async function () {
    this.timeout(60_000);
    const server = await WireServer.start(({ index, response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(BODY.subarray(0, index));
    });
    const provider = createOpenAICompatible({ name: 'local', baseURL: server.baseURL });
    const model = new AiSdkChatModel({ model: provider('m'), maxRetries: 0 });
    const outcomes = new Set<string>();

    for (let at = 0; at <= BODY.length; at++)
      try {
        const { text } = await lastOf(model.stream(new Prompt('hi')));
        expect(text, `cut at ${at}`).to.equal(TEXT);
        outcomes.add('answer');
      } catch (error) {
        expect(error, `cut at ${at}`).to.be.instanceOf(ModelCallError);
        outcomes.add(error instanceof IncompleteResponseError ? 'incomplete' : 'failed');
      }
    await server.close();

    expect([...outcomes]).to.have.members(['incomplete', 'answer']);
  });
});
