import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ChatClient, defineTool } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { RUNS } from '../support/modes.js';
import { WireServer, type Exchange } from '../support/wire-server.js';

const LIMIT = 2_000; // more than a busy machine needs for an answer on the loopback
const call = { index: 0, id: 'c1', type: 'function', function: { name: 'slow', arguments: '{}' } };

/** Asks for the tool first, and answers when it has the result. */
function answer({ index, body, response }: Exchange): void {
  const message =
    index === 0
      ? { role: 'assistant', content: null, tool_calls: [call] }
      : { role: 'assistant', content: 'Done.' };
  const finish_reason = index === 0 ? 'tool_calls' : 'stop';
  const streamed = body['stream'] === true;
  const choice = { index: 0, [streamed ? 'delta' : 'message']: message, finish_reason };
  const json = JSON.stringify({ id: 'r', model: 'm', object: 'x', created: 1, choices: [choice] });
  response.setHeader('content-type', streamed ? 'text/event-stream' : 'application/json');
  response.end(streamed ? `data: ${json}\n\ndata: [DONE]\n\n` : json);
}

describe("a tool that runs longer than the model's idle timeout", () => {
  for (const [mode, run] of RUNS) {
    it(`[F29] is not interrupted: the timers of a model run only during its request (${mode})`, async function () {
      this.timeout(60_000);
      const server = await WireServer.start(answer);
      try {
        const timers = { timeout: LIMIT, firstChunkTimeout: LIMIT, idleTimeout: LIMIT };
        const model = new OpenAIChatModel({
          model: 'm',
          apiKey: 'k',
          baseURL: server.baseURL,
          maxRetries: 0,
          ...timers,
        });
        const slow = defineTool({ name: 'slow', execute: () => sleep(2 * LIMIT, 'slept well') });

        expect(await run(ChatClient.create(model).prompt('Go.').tools(slow))).to.equal('Done.');
        expect(server.exchanges).to.have.lengthOf(2);
      } finally {
        await server.close();
      }
    });
  }
});
