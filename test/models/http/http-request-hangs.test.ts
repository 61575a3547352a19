import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import OpenAI from 'openai';
import { CancelledError, ModelCallError, ModelTimeoutError, Prompt } from '../../../src/index.js';
import { HttpRequest } from '../../../src/models/http/http-request.js';
import type { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import { chunk, completion, whenClosed } from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
const LIMIT = 200;
const LIMITS = {
  timeout: LIMIT,
  firstChunkTimeout: LIMIT,
  idleTimeout: LIMIT,
  maxRetries: 0,
} as const;

/** Longer than the buffers of `fetch`: on Node.js 20 only a long body hangs beyond an abort. */
const TEXT = Array.from({ length: 200_000 }, (_, at) => `${at * 7919}`).join(' ');
const BODIES = {
  call: JSON.stringify(completion(TEXT)),
  stream: [chunk({ content: TEXT }), chunk({}, 'stop'), '[DONE]']
    .map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
    .join(''),
};
const TYPES = { call: 'application/json', stream: 'text/event-stream' };
const brotli = (text: string): Buffer =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const COMPRESS = { gzip: gzipSync, deflate: deflateSync, br: brotli };

function withWrongByte(body: Buffer, at: number): Buffer {
  const copy = Buffer.from(body);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

const CORRUPTIONS = {
  'a wrong byte': (text: string, encoding: keyof typeof COMPRESS) => {
    const body = COMPRESS[encoding](text);
    return withWrongByte(body, body.length >> 1);
  },
  'a wrong first byte': (text: string, encoding: keyof typeof COMPRESS) =>
    withWrongByte(COMPRESS[encoding](text), 0),
  'a wrong checksum': (text: string, encoding: keyof typeof COMPRESS) => {
    const body = COMPRESS[encoding](text);
    return withWrongByte(body, body.length - 5);
  },
  'no compression': (text: string) => Buffer.from(text),
};

const asks = {
  call: (model: OpenAIChatModel, signal?: AbortSignal) => model.call(PROMPT, { signal }),
  stream: (model: OpenAIChatModel, signal?: AbortSignal) =>
    lastOf(model.stream(PROMPT, { signal })),
};
const MODES = ['call', 'stream'] as const;
const ENCODINGS = ['gzip', 'deflate', 'br'] as const;

/** Settles with the outcome, or with 'hangs' well after every limit. */
function outcomeOf(run: Promise<unknown>): Promise<unknown> {
  const outcome = run.then(
    () => 'completed',
    (error: unknown) => error,
  );
  return Promise.race([outcome, sleep(LIMIT + 2_500, 'hangs')]);
}

describe('HttpRequest, when a response never settles', function () {
  this.timeout(20_000);
  const wire = useWireModel();

  for (const mode of MODES)
    for (const encoding of ENCODINGS)
      for (const [title, corrupt] of Object.entries(CORRUPTIONS))
        it(`[D41] ends a ${mode} whose ${encoding} body has ${title}`, async () => {
          wire.answer = ({ response }) =>
            response
              .writeHead(200, { 'content-type': TYPES[mode], 'content-encoding': encoding })
              .end(corrupt(BODIES[mode], encoding));

          const outcome = await outcomeOf(asks[mode](wire.modelWith(LIMITS)));

          // a complete answer counts, however its connection ended
          if (outcome !== 'completed') expect(outcome).to.be.instanceOf(ModelCallError);
        });

  for (const mode of MODES) {
    it(`[D41] cancels a ${mode} in the middle of a compressed body, and closes its connection`, async () => {
      wire.answer = ({ response }) =>
        response
          .writeHead(200, { 'content-type': TYPES[mode], 'content-encoding': 'gzip' })
          .write(gzipSync(BODIES[mode]).subarray(0, 2_000));
      const controller = new AbortController();
      const model = wire.modelWith({ maxRetries: 0, timeout: 60_000 });
      const run = outcomeOf(asks[mode](model, controller.signal));
      const { socket } = await wire.server.nextExchange(1);
      await sleep(50);

      controller.abort('enough');

      expect(await run).to.be.instanceOf(CancelledError);
      await whenClosed(socket, 0);
    });

    it(`[D41] ends a ${mode} whose error has a corrupted body`, async () => {
      wire.answer = ({ response }) =>
        response.writeHead(503, { 'content-encoding': 'gzip' }).end('not compressed');

      const outcome = await outcomeOf(asks[mode](wire.modelWith(LIMITS)));

      expect(outcome).to.be.instanceOf(ModelCallError).and.include({ retryable: true });
    });
  }

  /** Ways of a `fetch` that knows no signal. */
  const deaf: Record<string, () => Promise<Response>> = {
    'never answers': () => new Promise(() => undefined),
    'answers with a body that never comes': () =>
      Promise.resolve(
        new Response(new ReadableStream({ pull: () => new Promise(() => undefined) })),
      ),
    'answers with a body that stops': () =>
      Promise.resolve(
        new Response(
          new ReadableStream({
            start: (body) => body.enqueue(new TextEncoder().encode('data: {"choices":')),
          }),
        ),
      ),
    'answers with a body that cannot be cancelled': () =>
      Promise.resolve(
        new Response(
          new ReadableStream({
            pull: () => new Promise(() => undefined),
            cancel: () => new Promise(() => undefined),
          }),
        ),
      ),
    'answers with an error whose body never comes': () =>
      Promise.resolve(
        new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }), {
          status: 500,
        }),
      ),
  };
  for (const mode of MODES)
    for (const [title, fetch] of Object.entries(deaf)) {
      const modelOf = (timeout: number): OpenAIChatModel =>
        wire.modelWith({
          ...LIMITS,
          timeout,
          client: new OpenAI({ apiKey: 'sk-test', baseURL: 'http://127.0.0.1:9/v1', fetch }),
          apiKey: undefined,
          baseURL: undefined,
        });

      it(`[D41] ends a ${mode} in time with a fetch that ${title} and ignores its signal`, async () => {
        const start = performance.now();

        expect(await outcomeOf(asks[mode](modelOf(LIMIT)))).to.be.instanceOf(ModelTimeoutError);

        expect(performance.now() - start).to.be.below(LIMIT + 1_000);
      });

      it(`[D41] cancels a ${mode} with a fetch that ${title} and ignores its signal`, async () => {
        const controller = new AbortController();
        const run = outcomeOf(asks[mode](modelOf(60_000), controller.signal));
        await sleep(20);

        controller.abort('enough');

        expect(await run).to.be.instanceOf(CancelledError);
      });
    }

  it('[D41] cancels the body of a response that comes after its request was given up', async () => {
    let cancelled: unknown = false;
    const controller = new AbortController();
    const settings = { maxRetries: 3, timeout: 60_000, maxResponseBytes: 1, secrets: () => [] };
    let sent = 0;
    const request = new HttpRequest(settings, { signal: controller.signal }, async () => {
      sent++;
      await sleep(30);
      return new Response(new ReadableStream({ cancel: () => void (cancelled = true) }));
    });
    const run = outcomeOf(request.call((body) => ({ body }) as never));

    controller.abort('enough');

    expect(await run).to.be.instanceOf(CancelledError);
    await sleep(60);
    expect(cancelled).to.equal(true);
    expect(sent).to.equal(1);
  });
});
