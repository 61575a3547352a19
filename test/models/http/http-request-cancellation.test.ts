import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { CancelledError, ChatClient, Prompt, type ChatEvent } from '../../../src/index.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  sendEvent,
  sendJson,
  sendText,
  whenClosed,
  type Exchange,
} from '../../support/wire-server.js';
import { collectGarbage } from '../../support/collect-garbage.js';

const PROMPT = new Prompt('hi');
const CHUNKS = 6;
/** The bound is 50 ms; a test machine may be busy at any single point. */
const SOON = 50;
const BUSY = 1_000;

describe('HttpRequest cancellation', function () {
  this.timeout(20_000);
  const wire = useWireModel();

  const silent = (): void => undefined;
  /** Some chunks, then nothing more, with the connection left open. */
  const some =
    (count: number) =>
    (exchange: Exchange): void => {
      beginEvents(exchange);
      for (let at = 0; at < count; at++) sendEvent(exchange, chunk({ content: `${at}` }));
    };

  /** A way to cancel a stream; calls back with everything that was emitted, also afterwards. */
  const ways: readonly (readonly [
    title: string,
    start: (onEvent: (event: ChatEvent) => void) => { cancel: () => void; ended: Promise<unknown> },
  ])[] = [
    [
      'unsubscribing',
      (onEvent) => {
        const subscription = wire.model.stream(PROMPT).subscribe({
          next: onEvent,
          error: () => onEvent({ type: 'text-delta', text: 'ERROR' }),
        });
        return { cancel: () => subscription.unsubscribe(), ended: Promise.resolve('silent') };
      },
    ],
    [
      'aborting the signal',
      (onEvent) => {
        const controller = new AbortController();
        const ended = lastOf(
          wire.model.stream(PROMPT, { signal: controller.signal }),
          onEvent,
        ).catch((error: unknown) => error);
        return { cancel: () => controller.abort('enough'), ended };
      },
    ],
    [
      'aborting the signal of a spec',
      (onEvent) => {
        const controller = new AbortController();
        const spec = ChatClient.create(wire.model).prompt('hi').signal(controller.signal);
        return {
          cancel: () => controller.abort('enough'),
          ended: lastOf(spec.stream().events(), onEvent).catch((error: unknown) => error),
        };
      },
    ],
  ];

  for (const [title, start] of ways) {
    it(`[F46] [OAI-07] closes the connection at any point of a stream and emits nothing more after ${title}`, async () => {
      const times: number[] = [];
      for (let count = 0; count <= CHUNKS; count++) {
        wire.answer = count === 0 ? silent : some(count - 1);
        const events: ChatEvent[] = [];
        const run = start((event) => event.type !== 'iteration-start' && events.push(event));
        const exchange = await wire.server.nextExchange(wire.server.exchanges.length + 1);
        const deltas = () => events.filter(({ type }) => type === 'text-delta');
        while (deltas().length < count - 1) await sleep(1);
        const began = performance.now();

        run.cancel();
        times.push(await whenClosed(exchange.socket, began));

        const ended = await run.ended;
        if (ended !== 'silent')
          expect(ended).to.be.instanceOf(CancelledError).and.include({ cause: 'enough' });
        await sleep(5);
        expect(deltas()).to.deep.equal(
          Array.from({ length: Math.max(0, count - 1) }, (_, at) => ({
            type: 'text-delta',
            text: `${at}`,
          })),
        );
      }
      expect(times.sort((a, b) => a - b)[times.length >> 1]).to.be.below(SOON);
      expect(Math.max(...times)).to.be.below(BUSY);
    });
  }

  const partialBody = ({ response }: Exchange): unknown =>
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":');
  const ask = {
    call: (signal: AbortSignal) => wire.model.call(PROMPT, { signal }),
    stream: (signal: AbortSignal) => lastOf(wire.model.stream(PROMPT, { signal })),
  };
  for (const [title, mode, how] of [
    ['a call that waits for its headers', 'call', silent],
    ['a call that waits for its body', 'call', partialBody],
    ['a stream that waits for its headers', 'stream', silent],
    ['a stream that waits for its next piece', 'stream', some(2)],
  ] as const) {
    it(`[F46] closes the connection of ${title} after a garbage collection`, async () => {
      wire.answer = how;
      const controller = new AbortController();
      const ended = ask[mode](controller.signal).catch((error: unknown) => error);
      const { socket } = await wire.server.nextExchange(1);
      for (let at = 0; at < 3; at++) {
        await sleep(20);
        collectGarbage();
      }

      controller.abort('enough');

      await whenClosed(socket, 0);
      expect(await ended)
        .to.be.instanceOf(CancelledError)
        .and.include({ cause: 'enough' });
    });
  }

  it('[F46] closes the connection at a break out of a loop over the text', async () => {
    wire.answer = some(3);
    for await (const text of ChatClient.create(wire.model).prompt('hi').stream()) {
      expect(text).to.equal('0');
      break;
    }
    const [exchange] = wire.server.exchanges;

    expect(await whenClosed((exchange as Exchange).socket, performance.now())).to.be.below(BUSY);
  });

  it('[F46] closes the connection when the consumer unsubscribes in the middle of a buffer', async () => {
    wire.answer = some(CHUNKS);
    const events: ChatEvent[] = [];
    await new Promise<void>((resolve) => {
      const subscription = wire.model.stream(PROMPT).subscribe((event) => {
        events.push(event);
        if (events.length < 2) return;
        subscription.unsubscribe();
        resolve();
      });
    });

    await whenClosed((wire.server.exchanges[0] as Exchange).socket, 0);
    expect(events).to.have.length(2);
  });

  it('[F46] rejects when the signal aborts in the middle of a buffer that has the whole response', async () => {
    wire.answer = ({ response }) => {
      const payloads = [chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop')].map(
        (one) => `data: ${JSON.stringify(one)}\n\n`,
      );
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`${payloads.join('')}data: [DONE]\n\n`);
    };
    for (const last of [1, 2]) {
      const controller = new AbortController();
      const events: ChatEvent[] = [];

      const run = lastOf(wire.model.stream(PROMPT, { signal: controller.signal }), (event) => {
        if (events.push(event) === last) controller.abort('enough');
      });

      expect(await run.catch((error: unknown) => error))
        .to.be.instanceOf(CancelledError)
        .and.include({ cause: 'enough' });
      expect(events.map((event) => event.type)).to.deep.equal(
        Array.from({ length: last }, () => 'text-delta'),
      );
    }
  });

  it('[F46] closes the connection while reading is paused by backpressure', async () => {
    wire.answer = some(2);
    const controller = new AbortController();
    const ready = (): Promise<void> => {
      setTimeout(() => controller.abort('enough'), 5);
      return new Promise(() => undefined);
    };

    const error: unknown = await lastOf(
      wire.model.stream(PROMPT, { signal: controller.signal, ready }),
    ).catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(CancelledError);
    await whenClosed((wire.server.exchanges[0] as Exchange).socket, 0);
  });

  const points: readonly (readonly [title: string, answer: (exchange: Exchange) => unknown])[] = [
    ['before the headers', silent],
    [
      'in the body',
      ({ response }) =>
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":'),
    ],
    [
      'in the body of an error',
      ({ response }) =>
        response.writeHead(500, { 'content-type': 'application/json' }).write('{"error":'),
    ],
  ];
  for (const [title, how] of points) {
    it(`[F46] cancels a call ${title}`, async () => {
      wire.answer = how;
      const controller = new AbortController();
      const outcome = wire.model
        .call(PROMPT, { signal: controller.signal })
        .catch((error: unknown) => error);
      const { socket } = await wire.server.nextExchange(1);
      await sleep(20);
      const began = performance.now();

      controller.abort('enough');

      expect(await outcome)
        .to.be.instanceOf(CancelledError)
        .and.include({ cause: 'enough' });
      expect(await whenClosed(socket, began)).to.be.below(BUSY);
    });
  }

  it('[F49] sends no retry when the run is cancelled during the back-off', async () => {
    const retrying = wire.modelWith({ maxRetries: 5 });
    wire.answer = (exchange) =>
      sendJson(exchange, { error: { message: 'busy' } }, 503, { 'retry-after-ms': '500' });
    const controller = new AbortController();
    const outcome = retrying
      .call(PROMPT, { signal: controller.signal })
      .catch((error: unknown) => error);
    await wire.server.nextExchange(1);
    setTimeout(() => controller.abort(), 30);

    expect(await outcome).to.be.instanceOf(CancelledError);
    await sleep(600);
    expect(wire.server.exchanges).to.have.length(1);
  });

  it('[F31] sends nothing with an aborted signal', async () => {
    wire.answer = (exchange) => sendText(exchange, 'x');
    const signal = AbortSignal.abort('early');

    const called: unknown = await wire.model
      .call(PROMPT, { signal })
      .catch((error: unknown) => error);
    const streamed: unknown = await lastOf(wire.model.stream(PROMPT, { signal })).catch(
      (error: unknown) => error,
    );

    expect(called).to.be.instanceOf(CancelledError).and.include({ cause: 'early' });
    expect(streamed).to.be.instanceOf(CancelledError).and.include({ cause: 'early' });
    await sleep(10);
    expect(wire.server.connections).to.equal(0);
  });

  it('[F31] rejects within a tick with an aborted signal', async () => {
    let settled = false;
    wire.model.call(PROMPT, { signal: AbortSignal.abort() }).catch(() => (settled = true));

    await new Promise((resolve) => setImmediate(resolve));

    expect(settled).to.equal(true);
  });

  it('rejects with the reason if it is an error of this package', async () => {
    wire.answer = silent;
    const reason = new CancelledError('the user left');
    const controller = new AbortController();
    const outcome = wire.model
      .call(PROMPT, { signal: controller.signal })
      .catch((error: unknown) => error);
    await wire.server.nextExchange(1);

    controller.abort(reason);

    expect(await outcome).to.equal(reason);
  });

  it('ignores an abort after the response', async () => {
    wire.answer = (exchange) =>
      exchange.body['stream']
        ? sendText(exchange, 'x')
        : sendJson(exchange, { choices: [{ message: { content: 'y' } }] });
    const controller = new AbortController();

    const streamed = await lastOf(wire.model.stream(PROMPT, { signal: controller.signal }));
    const called = await wire.model.call(PROMPT, { signal: controller.signal });
    controller.abort();
    await sleep(5);

    expect([streamed.text, called.text]).to.deep.equal(['x', 'y']);
  });

  it('sends a request for each subscription, and none before', async () => {
    wire.answer = (exchange) => sendText(exchange, `${exchange.index}`);
    const stream = wire.model.stream(PROMPT);
    await sleep(5);
    expect(wire.server.exchanges).to.have.length(0);

    const texts = await Promise.all([lastOf(stream), lastOf(stream)]);

    expect(texts.map(({ text }) => text)).to.have.members(['0', '1']);
  });
});
