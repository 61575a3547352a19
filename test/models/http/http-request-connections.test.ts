import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { ChatClient, Prompt } from '../../../src/index.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  completion,
  sendEvent,
  sendJson,
  sendText,
  type Exchange,
} from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');

describe('HttpRequest connections', function () {
  this.timeout(20_000);
  const wire = useWireModel();

  const uses: readonly (readonly [
    title: string,
    answer: (exchange: Exchange) => unknown,
    ask: () => Promise<unknown>,
  ])[] = [
    ['streams', (exchange) => sendText(exchange, 'x'), () => lastOf(wire.model.stream(PROMPT))],
    ['calls', (exchange) => sendJson(exchange, completion('x')), () => wire.model.call(PROMPT)],
    [
      'errors',
      (exchange) => sendJson(exchange, { error: { message: 'no' } }, 400),
      () => wire.model.call(PROMPT).catch(() => undefined),
    ],
    [
      'streams that end a little after their end marker',
      (exchange) => {
        beginEvents(exchange);
        for (const payload of [chunk({ content: 'x' }, 'stop'), '[DONE]'])
          sendEvent(exchange, payload);
        setImmediate(() => exchange.response.end()); // in another packet
      },
      async () => {
        await lastOf(wire.model.stream(PROMPT));
        await new Promise((resolve) => setTimeout(resolve, 15));
      },
    ],
  ];
  for (const [title, how, ask] of uses) {
    it(`reuses a connection after ${title}`, async () => {
      wire.answer = how;

      for (let at = 0; at < 20; at++) await ask();

      expect(wire.server.exchanges).to.have.length(20);
      expect(wire.server.connections).to.be.within(1, 2);
    });
  }

  it('[F54] leaves no listener on a signal that a hundred requests share', async () => {
    wire.answer = (exchange) =>
      exchange.body['stream'] ? sendText(exchange, 'x') : sendJson(exchange, completion('x'));
    const { signal } = new AbortController();
    const spec = ChatClient.create(wire.model).prompt('hi').signal(signal);

    for (let at = 0; at < 25; at++) {
      await wire.model.call(PROMPT, { signal });
      await lastOf(wire.model.stream(PROMPT, { signal }));
      await spec.call().content();
      await lastOf(spec.stream().events());
    }

    expect(wire.server.exchanges).to.have.length(100);
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('[F54] has one listener on a signal while many requests share it', async () => {
    const waiting: Exchange[] = [];
    wire.answer = (exchange) => waiting.push(exchange);
    const { signal } = new AbortController();
    const runs = Array.from({ length: 20 }, () => wire.model.call(PROMPT, { signal }));
    await wire.server.nextExchange(20);

    expect(getEventListeners(signal, 'abort')).to.have.length(1);

    for (const exchange of waiting) sendJson(exchange, completion('x'));
    await Promise.all(runs);
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('separates twenty concurrent streams', async () => {
    wire.answer = (exchange) => {
      const [message] = exchange.body['messages'] as { content: string }[];
      setTimeout(
        () => sendText(exchange, `${message?.content} back`),
        Number(message?.content) % 5,
      );
    };

    const texts = await Promise.all(
      Array.from({ length: 20 }, (_, at) => lastOf(wire.model.stream(new Prompt(`${at}`)))),
    );

    expect(texts.map(({ text }) => text)).to.deep.equal(
      Array.from({ length: 20 }, (_, at) => `${at} back`),
    );
  });
});
