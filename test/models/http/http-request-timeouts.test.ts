import { expect } from 'chai';
import {
  IncompleteResponseError,
  ModelTimeoutError,
  Prompt,
  type ChatEvent,
} from '../../../src/index.js';
import type { OpenAIChatModel, OpenAIChatModelOptions } from '../../../src/models/openai/index.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import { beginEvents, chunk, sendEvent, whenClosed } from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
/**
 * Far longer than any limit under test, so that a limit that does not hold fails the test by
 * mocha's own time.
 */
const LONG = 60_000;

describe('HttpRequest time limits', function () {
  this.timeout(10_000);
  const wire = useWireModel();

  function modelWith(limits: Partial<OpenAIChatModelOptions>): OpenAIChatModel {
    const limitless = { timeout: LONG, firstChunkTimeout: LONG, idleTimeout: LONG, maxRetries: 0 };
    return wire.modelWith({ ...limitless, ...limits });
  }

  /** The error of a request, and that its connection was closed. */
  async function timeoutOf(run: Promise<unknown>, limit: number): Promise<ModelTimeoutError> {
    const start = performance.now();
    const error: unknown = await run.catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(ModelTimeoutError)
      .and.include({ retryable: true, code: 'model_timeout' });
    expect(performance.now() - start).to.be.below(limit + 3_000);
    const { socket } = await wire.server.nextExchange(1);
    await whenClosed(socket, 0);
    return error as ModelTimeoutError;
  }

  it('[F45] rejects a call without headers in time', async () => {
    wire.answer = () => undefined;

    const error = await timeoutOf(modelWith({ timeout: 60 }).call(PROMPT), 60);

    expect(error.message).to.include('timeout').and.include('60 ms');
  });

  it('[F45] rejects a call whose body stops', async () => {
    wire.answer = ({ response }) =>
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":');

    await timeoutOf(modelWith({ timeout: 60 }).call(PROMPT), 60);
  });

  it('[F45] rejects a stream without headers in time', async () => {
    wire.answer = () => undefined;

    await timeoutOf(lastOf(modelWith({ timeout: 60 }).stream(PROMPT)), 60);
  });

  it('[F45] rejects a stream without a piece after its headers', async () => {
    wire.answer = (exchange) => beginEvents(exchange);

    const error = await timeoutOf(lastOf(modelWith({ firstChunkTimeout: 60 }).stream(PROMPT)), 60);

    expect(error.message).to.include('firstChunkTimeout');
  });

  it('[F45] rejects a stream that pauses too long, after its deltas', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'Hel' }));
    };
    const events: ChatEvent[] = [];

    const error = await timeoutOf(
      lastOf(modelWith({ idleTimeout: 60 }).stream(PROMPT), (event) => events.push(event)),
      60,
    );

    expect(error.message).to.include('idleTimeout');
    expect(events).to.deep.equal([{ type: 'text-delta', text: 'Hel' }]);
  });

  it('includes the retries in the time of a call', async () => {
    wire.answer = ({ response }) => response.writeHead(503, { 'retry-after-ms': '40' }).end('{}');

    const error: unknown = await modelWith({ timeout: 150, maxRetries: 1_000 })
      .call(PROMPT)
      .catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(ModelTimeoutError);
    expect(wire.server.exchanges.length).to.be.within(2, 5);
  });

  it('accepts a stream that is slow but steady', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      let sent = 0;
      const timer = setInterval(() => {
        sendEvent(exchange, sent < 10 ? chunk({ content: 'x' }) : chunk({}, 'stop'));
        if (sent++ === 10) exchange.response.end(() => clearInterval(timer));
      }, 20);
      exchange.response.on('close', () => clearInterval(timer));
    };

    const response = await lastOf(
      modelWith({ firstChunkTimeout: 2_000, idleTimeout: 2_000, timeout: 2_000 }).stream(PROMPT),
    );

    expect(response.text).to.equal('x'.repeat(10));
  });

  it('counts comments as activity of a stream', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      let sent = 0;
      const timer = setInterval(() => {
        if (sent++ < 8) return void exchange.response.write(': PROCESSING\n\n');
        clearInterval(timer);
        sendEvent(exchange, chunk({ content: 'x' }, 'stop'));
        exchange.response.end();
      }, 50);
      exchange.response.on('close', () => clearInterval(timer));
    };

    expect(
      (await lastOf(modelWith({ firstChunkTimeout: 250, idleTimeout: 250 }).stream(PROMPT))).text,
    ).to.equal('x');
  });

  it('[F45] completes a stream that has its finish reason but never ends', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'x' }, 'stop'));
    };

    const response = await lastOf(modelWith({ idleTimeout: 60 }).stream(PROMPT));

    expect(response).to.include({ text: 'x', finishReason: 'stop' });
    await whenClosed((await wire.server.nextExchange(1)).socket, 0);
  });

  it('distinguishes a broken connection from a time limit', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      exchange.response.write(': ping\n\n', () => exchange.socket.destroy());
    };

    const error: unknown = await lastOf(modelWith({ idleTimeout: 60 }).stream(PROMPT)).catch(
      (thrown: unknown) => thrown,
    );

    expect(error).to.be.instanceOf(IncompleteResponseError);
  });

  it('accepts Infinity as no limit, and parts of a millisecond', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'x' }, 'stop'));
      exchange.response.end();
    };
    for (const limit of [Infinity, 1_500.5]) {
      const model = modelWith({ timeout: limit, firstChunkTimeout: limit, idleTimeout: limit });
      expect((await lastOf(model.stream(PROMPT))).text).to.equal('x');
    }
  });

  it('stops the idle timer during backpressure', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'a' }));
      setTimeout(() => {
        sendEvent(exchange, chunk({ content: 'b' }, 'stop'));
        exchange.response.end();
      }, 30);
    };
    let paused = false;
    const ready = (): Promise<void> | undefined => {
      if (paused) return undefined;
      paused = true;
      return new Promise((resolve) => setTimeout(resolve, 300));
    };

    const response = await lastOf(modelWith({ idleTimeout: 150 }).stream(PROMPT, { ready }));

    expect(response.text).to.equal('ab');
    expect(paused).to.equal(true);
  });
});
