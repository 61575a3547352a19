import { expect } from 'chai';
import OpenAI from 'openai';
import { ModelCallError, Prompt, type ChatEvent } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
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
const SOON = { 'retry-after-ms': '1' };

describe('HttpRequest retries', () => {
  const wire = useWireModel();

  const failing =
    (status: number) =>
    (exchange: Exchange): void =>
      sendJson(exchange, { error: { message: `no ${exchange.index}` } }, status, SOON);
  const ask = {
    call: (model: OpenAIChatModel) => model.call(PROMPT),
    stream: (model: OpenAIChatModel) => lastOf(model.stream(PROMPT)),
  };

  for (const mode of ['call', 'stream'] as const) {
    for (const maxRetries of [0, 1, 2, 5]) {
      it(`[F50] sends exactly ${1 + maxRetries} requests by ${mode} to a server that always fails, with maxRetries ${maxRetries}`, async () => {
        wire.answer = failing(500);

        const error: unknown = await ask[mode](wire.modelWith({ maxRetries })).catch(
          (thrown: unknown) => thrown,
        );

        expect(error)
          .to.be.instanceOf(ModelCallError)
          .and.include({ status: 500, providerMessage: `no ${maxRetries}` });
        expect(wire.server.exchanges).to.have.length(1 + maxRetries);
      });
    }

    it(`[F50] sends 3 requests by ${mode} by default`, async () => {
      wire.answer = failing(429);

      await ask[mode](wire.modelWith({})).catch(() => undefined);

      expect(wire.server.exchanges).to.have.length(3);
    });

    it(`[F50] disables the retries of a ready client by ${mode}`, async () => {
      wire.answer = failing(500);
      const client = new OpenAI({ apiKey: 'sk-test', baseURL: wire.server.baseURL, maxRetries: 4 });

      await ask[mode](new OpenAIChatModel({ client, maxRetries: 1 })).catch(() => undefined);

      expect(wire.server.exchanges).to.have.length(2);
    });

    it(`succeeds by ${mode} when the server has recovered, with the same request`, async () => {
      wire.answer = (exchange) => {
        if (exchange.index < 2) failing(503)(exchange);
        else if (mode === 'call') sendJson(exchange, completion('fine'));
        else sendText(exchange, 'fine');
      };

      expect((await ask[mode](wire.modelWith({}))).text).to.equal('fine');
      expect(wire.server.exchanges.map(({ body }) => JSON.stringify(body))).to.deep.equal(
        Array.from({ length: 3 }, () => JSON.stringify(wire.server.exchanges[0]?.body)),
      );
    });

    it(`[F49] retries by ${mode} when the server closes the connection before its response`, async () => {
      wire.answer = (exchange) => {
        if (exchange.index === 0) exchange.socket.destroy();
        else if (mode === 'call') sendJson(exchange, completion('fine'));
        else sendText(exchange, 'fine');
      };

      expect((await ask[mode](wire.modelWith({ maxRetries: 1 }))).text).to.equal('fine');
    });

    for (const status of [400, 401, 403, 404, 422]) {
      it(`does not retry status ${status} by ${mode}`, async () => {
        wire.answer = failing(status);

        await ask[mode](wire.modelWith({})).catch(() => undefined);

        expect(wire.server.exchanges).to.have.length(1);
      });
    }
  }

  for (let chunks = 0; chunks <= 3; chunks++) {
    it(`[F48] does not retry a stream that fails after ${chunks} chunks`, async () => {
      wire.answer = (exchange) => {
        beginEvents(exchange);
        for (let at = 0; at < chunks; at++) sendEvent(exchange, chunk({ content: `${at}` }));
        exchange.response.write(': ping\n\n', () => exchange.socket.destroy());
      };
      const events: ChatEvent[] = [];

      const error: unknown = await lastOf(wire.modelWith({}).stream(PROMPT), (event) =>
        events.push(event),
      ).catch((thrown: unknown) => thrown);

      expect(error).to.include({ code: 'incomplete_response', retryable: true });
      expect(wire.server.exchanges).to.have.length(1);
      expect(events.map((event) => event.type === 'text-delta' && event.text)).to.deep.equal(
        Array.from({ length: chunks }, (_, at) => `${at}`),
      );
    });
  }

  it('[F48] does not retry an error inside a stream', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, { error: { code: 503, message: 'busy' } });
      exchange.response.end();
    };

    await lastOf(wire.modelWith({}).stream(PROMPT)).catch(() => undefined);

    expect(wire.server.exchanges).to.have.length(1);
  });
});
