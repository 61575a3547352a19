import { expect } from 'chai';
import { ChatClient, IncompleteResponseError, Prompt } from '../../../src/index.js';
import type { OpenAIChatModel } from '../../../src/models/openai/index.js';
import type { Json } from '../../support/cassettes.js';
import { failureOf, MODES, runSpec } from '../../support/modes.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  sendEvent,
  sendEvents,
  sendJson,
  whenClosed,
  type Exchange,
} from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
const USAGE = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
const asks = {
  call: (model: OpenAIChatModel) => model.call(PROMPT),
  stream: (model: OpenAIChatModel) => lastOf(model.stream(PROMPT)),
};

describe('an answer whose server leaves the connection open', function () {
  this.timeout(20_000);
  const wire = useWireModel();
  const answerForever = (exchange: Exchange): void => {
    beginEvents(exchange);
    sendEvent(exchange, chunk({ content: 'x' }, 'stop', { usage: USAGE }));
    sendEvent(exchange, '[DONE]');
  };

  for (const mode of MODES) {
    it(`[D59] ends at the end marker of its events, in a ${mode}`, async () => {
      wire.answer = answerForever;

      const { text, usage } = await asks[mode](wire.model);

      expect([text, usage?.totalTokens]).to.deep.equal(['x', 3]);
    });

    it(`[D59] frees its connection long before a second has passed, after a ${mode}`, async () => {
      wire.answer = answerForever;

      const { chatResponse } = await runSpec(mode, ChatClient.create(wire.model).prompt('hi'));
      const start = performance.now();

      expect(chatResponse?.text).to.equal('x');
      expect(await whenClosed((wire.server.exchanges[0] as Exchange).socket, start)).to.be.below(
        700,
      );
    });
  }

  it('[D59] is read by a call up to its end marker, in whatever pieces it comes', async () => {
    const events = [chunk({ content: 'é😀' }), chunk({}, 'stop'), '[DONE]'];
    const bytes = Buffer.from(
      `: ping\r\n\r\n${events
        .map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\r\n\r\n`)
        .join('')}`,
    );
    wire.answer = async (exchange) => {
      beginEvents(exchange);
      for (let at = 0; at < bytes.length; at += 3) {
        exchange.response.write(bytes.subarray(at, at + 3));
        await new Promise(setImmediate);
      }
    };

    expect((await wire.model.call(PROMPT)).text).to.equal('é😀');
  });

  it('[D59] counts in a call if its events are complete and its connection breaks', async () => {
    wire.answer = async (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'x' }, 'stop'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      exchange.socket.destroy();
    };

    expect((await wire.model.call(PROMPT)).text).to.equal('x');
  });
});

describe('an answer without a message', () => {
  const wire = useWireModel();
  const messages: Record<string, Json> = {
    'is null': { message: null, delta: null },
    'is missing': {},
    'is a text': { message: 'x', delta: 'x' },
    'is a list': { message: [], delta: [] },
  };

  for (const [title, fields] of Object.entries(messages))
    for (const mode of MODES)
      for (const finish_reason of ['stop', 'content_filter'])
        it(`[D59] is incomplete if it ${title} (${finish_reason}), in a ${mode}`, async () => {
          wire.answer = (exchange) => {
            const body = { choices: [{ index: 0, ...fields, finish_reason }], usage: USAGE };
            if (mode === 'call') sendJson(exchange, body);
            else sendEvents(exchange, [body, '[DONE]']);
          };

          const error = await failureOf(asks[mode](wire.model));

          expect(error)
            .to.be.instanceOf(IncompleteResponseError)
            .and.deep.include({
              retryable: true,
              usage: { inputTokens: 2, outputTokens: 1, totalTokens: 3 },
            })
            .and.have.property('message')
            .that.includes(finish_reason);
        });

  for (const mode of MODES)
    it(`is empty, but complete, if its message is, in a ${mode}`, async () => {
      wire.answer = (exchange) => {
        if (mode === 'stream')
          return sendEvents(exchange, [chunk({}), chunk({}, 'stop'), '[DONE]']);
        sendJson(exchange, { choices: [{ message: { content: null }, finish_reason: 'stop' }] });
      };

      expect((await asks[mode](wire.model)).text).to.equal('');
    });
});
