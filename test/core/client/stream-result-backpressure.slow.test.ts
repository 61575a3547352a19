import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ChatClient, type StreamResult } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';

const CHUNKS = 40_000;
const TEXT = 'x'.repeat(1_000);

const event = (delta: object, finishReason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;

/** Sends 40 MB as fast as the client reads. */
class Flood {
  sent = 0;
  /** Resolves when the response is over, sent or not. */
  closed: Promise<unknown> = Promise.resolve();
  private readonly server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.closed = once(response, 'close');
    Readable.from(this.events()).pipe(response);
  });

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** Bytes sent until the server blocked. */
  async settled(): Promise<number> {
    for (let before = -1; before !== this.sent; await sleep(150)) before = this.sent;
    return this.sent;
  }

  private *events(): Generator<string> {
    for (; this.sent < CHUNKS; this.sent++) yield event({ content: TEXT });
    yield event({}, 'stop') + 'data: [DONE]\n\n';
  }
}

describe('a slow consumer', function () {
  this.timeout(30_000);
  let flood: Flood;
  let stream: StreamResult;

  const openStream = async (
    options: { readonly idleTimeout?: number } = {},
  ): Promise<StreamResult> => {
    const model = new OpenAIChatModel({
      model: 'm',
      apiKey: 'k',
      baseURL: await flood.start(),
      ...options,
    });
    return ChatClient.create(model).prompt('?').stream();
  };

  beforeEach(async () => {
    flood = new Flood();
    stream = await openStream();
  });

  afterEach(() => flood.stop());

  for (const [what, open] of [
    ['an async iteration', () => stream[Symbol.asyncIterator]()],
    ['a web stream', () => stream.toReadableStream()[Symbol.asyncIterator]()],
  ] as const) {
    it(`[F47] pauses the server through ${what} and receives everything when it continues`, async () => {
      const texts = open();
      let length = (await texts.next()).value?.length ?? 0;

      const sent = await flood.settled();
      expect(sent).to.be.below(CHUNKS / 2);

      for (let next = await texts.next(); !next.done; next = await texts.next())
        length += next.value.length;
      expect(length).to.equal(CHUNKS * TEXT.length);
      expect(flood.sent).to.equal(CHUNKS);
    });

    it(`[F46] cancels a paused request through ${what}`, async () => {
      const texts = open();
      await texts.next();
      await flood.settled();

      await texts.return?.();

      await flood.closed;
      expect(flood.sent).to.be.below(CHUNKS / 2);
    });
  }

  it('[F29] may pause for longer than the idle timeout of the server', async () => {
    flood.stop();
    flood = new Flood();
    const texts = (await openStream({ idleTimeout: 1_000 }))[Symbol.asyncIterator]();
    let length = (await texts.next()).value?.length ?? 0;

    await sleep(1_300);

    for (let next = await texts.next(); !next.done; next = await texts.next())
      length += next.value.length;
    expect(length).to.equal(CHUNKS * TEXT.length);
  });

  it('does not pause an Observable, which has no backpressure', async () => {
    let length = 0;

    await new Promise<void>((resolve, reject) =>
      stream
        .content()
        .subscribe({ next: (text) => (length += text.length), error: reject, complete: resolve }),
    );

    expect(length).to.equal(CHUNKS * TEXT.length);
  });
});
