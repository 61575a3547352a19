import { expect } from 'chai';
import { ModelCallError, Prompt } from '../../../src/index.js';
import { failureOf } from '../../support/modes.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  completion,
  sendEvent,
  sendJson,
  type Exchange,
} from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
const COUNTS = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const USAGE = { inputTokens: 9, outputTokens: 3, totalTokens: 12 };

describe('HttpRequest, when a response fails', () => {
  const wire = useWireModel();

  /** Ways to fail in the middle of a stream. */
  const failures: readonly (readonly [
    title: string,
    code: string,
    fail: (exchange: Exchange) => unknown,
  ])[] = [
    ['a pause', 'model_timeout', () => undefined],
    ['a broken connection', 'incomplete_response', ({ socket }) => socket.destroy()],
    ['an early end', 'incomplete_response', ({ response }) => response.end()],
    ['an error', 'model_call', (exchange) => sendEvent(exchange, { error: { message: 'no' } })],
    ['no JSON', 'model_call', (exchange) => sendEvent(exchange, 'oops')],
  ];
  for (const [title, code, fail] of failures) {
    const failing = (more: Readonly<Record<string, unknown>>): void => {
      wire.answer = async (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: 'Hel' }, null, more));
        await new Promise((resolve) => setTimeout(resolve, 20));
        fail(exchange);
      };
    };
    const fails = (): Promise<unknown> =>
      failureOf(lastOf(wire.modelWith({ idleTimeout: 100, maxRetries: 0 }).stream(PROMPT)));

    it(`[D7] keeps the text that had arrived before ${title}`, async () => {
      failing({});

      const error = await fails();

      expect(error).to.be.instanceOf(ModelCallError);
      expect(error).to.include({ code, partialText: 'Hel', usage: undefined });
    });

    it(`[D5] keeps the usage that had arrived before ${title}`, async () => {
      failing({ usage: COUNTS });

      expect(((await fails()) as ModelCallError).usage).to.deep.equal(USAGE);
    });
  }

  it('[D7] has no text if none had arrived', async () => {
    wire.answer = (exchange) => beginEvents(exchange);

    const error = await failureOf(lastOf(wire.modelWith({ firstChunkTimeout: 50 }).stream(PROMPT)));

    expect(error).to.include({ code: 'model_timeout', partialText: undefined, usage: undefined });
  });

  const documents: readonly (readonly [title: string, body: unknown])[] = [
    ['without choices', { object: 'chat.completion', choices: [], usage: COUNTS }],
    [
      'whose choice is an error',
      {
        ...completion('Hel', { usage: COUNTS }),
        choices: [
          { message: { content: 'Hel' }, finish_reason: 'error', error: { message: 'no' } },
        ],
      },
    ],
  ];
  for (const [title, body] of documents)
    it(`[D5] keeps the usage of a document ${title}`, async () => {
      wire.answer = (exchange) => sendJson(exchange, body);

      const error = await failureOf(wire.model.call(PROMPT));

      expect((error as ModelCallError).usage).to.deep.equal(USAGE);
    });
});
