import { expect } from 'chai';
import { LimitExceededError, ModelTimeoutError, Prompt } from '../../../src/index.js';
import type { OpenAIChatModel, OpenAIChatModelOptions } from '../../../src/models/openai/index.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  sendEvent,
  whenClosed,
  type Exchange,
} from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
const LIMIT = 150;
/** Before it the first piece has arrived, also on a busy machine. */
const LATER = 1_500;
const PAUSE = 20;

/** Pieces that a server sends now and then, so that the connection is never idle. */
const TRICKLES = {
  comments: ': PROCESSING\n\n',
  'blank lines': '\n',
  'bytes of a line': 'x',
  'events without data': 'event: ping\n\n',
  'empty deltas': `data: ${JSON.stringify(chunk({}))}\n\n`,
  'short deltas': `data: ${JSON.stringify(chunk({ content: '.' }))}\n\n`,
};

/** Sends a piece now and then for as long as the connection is open. */
function trickle({ response }: Exchange, piece: string): void {
  const timer = setInterval(() => response.write(piece), PAUSE);
  response.on('close', () => clearInterval(timer));
}

const asks = {
  call: (model: OpenAIChatModel) => model.call(PROMPT),
  stream: (model: OpenAIChatModel) => lastOf(model.stream(PROMPT)),
};

describe('HttpRequest with an answer that trickles', function () {
  this.timeout(30_000);
  const wire = useWireModel();

  const modelWith = (options: Partial<OpenAIChatModelOptions>): OpenAIChatModel =>
    wire.modelWith({ maxRetries: 0, idleTimeout: 60_000, firstChunkTimeout: 60_000, ...options });

  /** The error of a request, and that it was sent once and its connection was closed. */
  async function errorOf(run: Promise<unknown>): Promise<unknown> {
    const error = await run.catch((thrown: unknown) => thrown);
    expect(wire.server.exchanges).to.have.length(1);
    await whenClosed((wire.server.exchanges[0] as Exchange).socket, 0);
    return error;
  }

  for (const [title, piece] of Object.entries(TRICKLES)) {
    it(`[F45] [D54] ends a stream of ${title} at its total limit`, async () => {
      wire.answer = (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: 'Hel' }));
        trickle(exchange, piece);
      };

      const error = await errorOf(asks.stream(modelWith({ totalTimeout: LATER, maxRetries: 5 })));

      expect(error)
        .to.be.instanceOf(LimitExceededError)
        .and.include({
          limit: 'total-time',
          value: LATER,
          option: 'totalTimeout',
          message: `The model call exceeded ${LATER} ms; raise totalTimeout to change it.`,
        });
      expect((error as LimitExceededError).partialText).to.match(/^Hel\.*$/);
    });

    it(`[F45] [D54] ends a call of ${title} at its limit`, async () => {
      wire.answer = (exchange) => {
        beginEvents(exchange);
        trickle(exchange, piece);
      };

      expect(await errorOf(asks.call(modelWith({ timeout: LIMIT })))).to.be.instanceOf(
        ModelTimeoutError,
      );
    });
  }

  it('[F45] [D54] ends an error whose page trickles at the limit of the request', async () => {
    wire.answer = (exchange) => {
      exchange.response.writeHead(500, { 'content-type': 'text/html' });
      trickle(exchange, '<p>no');
    };

    expect(await errorOf(asks.stream(modelWith({ timeout: LIMIT })))).to.be.instanceOf(
      ModelTimeoutError,
    );
  });

  it('[D54] includes the retries of a call in its total limit', async () => {
    wire.answer = ({ response }) => response.writeHead(503, { 'retry-after-ms': '20' }).end('{}');

    const error: unknown = await asks
      .call(modelWith({ totalTimeout: LIMIT, maxRetries: 1_000 }))
      .catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(LimitExceededError).and.include({ limit: 'total-time' });
  });

  it('[D54] completes a stream that has its finish reason at its total limit', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'x' }, 'stop'));
      trickle(exchange, ': keep-alive\n\n');
    };

    const response = await asks.stream(modelWith({ totalTimeout: LATER }));

    expect(response).to.include({ text: 'x', finishReason: 'stop' });
    await whenClosed((await wire.server.nextExchange(1)).socket, 0);
  });

  it('[D54] does not count the time of the consumer', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'a' }));
      setTimeout(() => {
        sendEvent(exchange, chunk({ content: 'b' }, 'stop'));
        exchange.response.end();
      }, PAUSE);
    };
    let paused = false;
    const ready = (): Promise<void> | undefined => {
      if (paused) return undefined;
      paused = true;
      return new Promise((resolve) => setTimeout(resolve, 3_000));
    };

    const model = modelWith({ totalTimeout: 2_500 });

    expect((await lastOf(model.stream(PROMPT, { ready }))).text).to.equal('ab');
    expect(paused).to.equal(true);
  });
});
