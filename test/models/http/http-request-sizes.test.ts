import { createGzip, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import {
  LimitExceededError,
  ModelCallError,
  Prompt,
  type EmbeddingResponse,
} from '../../../src/index.js';
import {
  OpenAIEmbeddingModel,
  type OpenAIChatModel,
  type OpenAIChatModelOptions,
} from '../../../src/models/openai/index.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import {
  beginEvents,
  chunk,
  completion,
  sendEvent,
  sendJson,
  whenClosed,
  type Exchange,
} from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
const LIMIT = 100_000;
const PIECE = 'x'.repeat(10_000);

const MODES = {
  call: (model: OpenAIChatModel) => model.call(PROMPT),
  stream: (model: OpenAIChatModel) => lastOf(model.stream(PROMPT)),
};
const modes = Object.entries(MODES);

/** Sends a text again and again for as long as the client reads. */
function sendForever({ response }: Exchange, text: string | Buffer): void {
  const send = (): void => {
    while (!response.destroyed && response.write(text));
    response.once('drain', send);
  };
  send();
}

/** Answers that never end. */
const ENDLESS: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
  'a document': (exchange) => {
    exchange.response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":"');
    sendForever(exchange, PIECE);
  },
  'a page': (exchange) => {
    exchange.response.writeHead(200, { 'content-type': 'text/html' }).write('<html>');
    sendForever(exchange, PIECE);
  },
  'whole events': (exchange) => {
    beginEvents(exchange);
    sendForever(exchange, `data: ${JSON.stringify(chunk({ content: PIECE }))}\n\n`);
  },
  comments: (exchange) => {
    beginEvents(exchange);
    sendForever(exchange, ': keep-alive\n\n');
  },
  'blank lines': (exchange) => {
    beginEvents(exchange);
    sendForever(exchange, '\n'.repeat(1_000));
  },
  'a compressed document': (exchange) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const gzip = createGzip();
    gzip.pipe(exchange.response.writeHead(200, headers));
    gzip.write('{"choices":"');
    const send = (): void => {
      while (!exchange.response.destroyed && gzip.write(PIECE));
      gzip.once('drain', send);
    };
    send();
  },
};

/** Events that never end. */
const ENDLESS_EVENTS: Readonly<Record<string, string>> = {
  'one line': 'x',
  'one line of data': 'data: x',
  'one comment': ': x',
  'lines of data': 'data: x\n',
};

describe('HttpRequest sizes', function () {
  this.timeout(20_000);
  const wire = useWireModel();

  const modelWith = (options: Partial<OpenAIChatModelOptions>): OpenAIChatModel =>
    wire.modelWith({ maxRetries: 2, ...options });

  /** The error of a request, and that it was sent once. */
  async function refusalOf(run: Promise<unknown>): Promise<LimitExceededError> {
    const error: unknown = await run.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(LimitExceededError);
    expect(wire.server.exchanges).to.have.length(1);
    return error as LimitExceededError;
  }

  /** As `refusalOf`, and that the connection was closed before the end of the answer. */
  async function cutOf(run: Promise<unknown>): Promise<LimitExceededError> {
    const error = await refusalOf(run);
    await whenClosed((wire.server.exchanges[0] as Exchange).socket, 0);
    expect(wire.server.exchanges).to.have.length(1);
    return error;
  }

  for (const [mode, ask] of modes)
    for (const [title, answer] of Object.entries(ENDLESS))
      it(`[D52] refuse ${title} without end in a ${mode}`, async () => {
        wire.answer = answer;

        const error = await cutOf(ask(modelWith({ maxResponseBytes: LIMIT })));

        expect(error).to.include({
          limit: 'response-bytes',
          value: LIMIT,
          option: 'maxResponseBytes',
          message: `The answer of the model exceeded ${LIMIT} bytes; raise maxResponseBytes to change it.`,
        });
        expect(error.spent).to.be.within(LIMIT + 1, 2 * LIMIT);
      });

  for (const [title, start] of Object.entries(ENDLESS_EVENTS))
    it(`[D52] refuse an event of ${title} without end`, async () => {
      wire.answer = (exchange) => {
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: 'Hel' }));
        if (!start.endsWith('\n')) exchange.response.write(start);
        sendForever(exchange, start.endsWith('\n') ? start.repeat(1_000) : PIECE);
      };

      const error = await cutOf(MODES.stream(modelWith({ maxEventBytes: LIMIT })));

      expect(error).to.include({
        limit: 'event-bytes',
        value: LIMIT,
        option: 'maxEventBytes',
        partialText: 'Hel',
      });
      expect(error.spent).to.be.within(LIMIT + 1, 2 * LIMIT);
    });

  it('[D52] refuse an event that arrives as a whole', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, chunk({ content: 'x'.repeat(1_000) }));
    };

    const error = await cutOf(MODES.stream(modelWith({ maxEventBytes: 1_000 })));

    expect(error.limit).to.equal('event-bytes');
  });

  const many = { logprobs: { content: Array.from({ length: 400 }, () => []) } };
  const ANSWERS: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
    'a document': (exchange) => sendJson(exchange, { ...completion('Hello'), ...many }),
    'an event': (exchange) => {
      beginEvents(exchange);
      sendEvent(exchange, { ...chunk({ content: 'Hello' }), ...many });
      sendEvent(exchange, chunk({}, 'stop'));
      exchange.response.end('data: [DONE]\n\n');
    },
  };
  for (const [mode, ask] of modes)
    for (const [title, answer] of Object.entries(ANSWERS))
      it(`[D52] refuse ${title} of many small values in a ${mode}, and accept it below the limit`, async () => {
        wire.answer = answer;

        const error = await refusalOf(ask(modelWith({ maxResponseValues: 400 })));

        expect(error).to.include({
          limit: 'response-values',
          value: 400,
          spent: 401,
          option: 'maxResponseValues',
          message:
            'The answer has more than 400 JSON values; raise maxResponseValues to change it.',
        });
        expect((await ask(modelWith({ maxResponseValues: 2_000 }))).text).to.equal('Hello');
      });

  it('[D52] accept a stream that is longer than its longest event', async () => {
    wire.answer = (exchange) => {
      beginEvents(exchange);
      for (let at = 0; at < 50; at++) {
        exchange.response.write(': keep-alive\n\n');
        sendEvent(exchange, chunk({ content: PIECE }));
      }
      sendEvent(exchange, chunk({}, 'stop'));
      exchange.response.end();
    };

    const response = await MODES.stream(modelWith({ maxEventBytes: 2 * PIECE.length }));

    expect(response.text).to.have.length(50 * PIECE.length);
  });

  for (const [mode, ask] of modes) {
    it(`[D52] accept a ${mode} of exactly the limit, and without one`, async () => {
      const body = JSON.stringify(completion('x'));
      wire.answer = (exchange) => sendJson(exchange, completion('x'));

      for (const maxResponseBytes of [body.length, Infinity])
        expect((await ask(modelWith({ maxResponseBytes }))).text).to.equal('x');
      const run = ask(modelWith({ maxResponseBytes: body.length - 1 }));
      expect(await run.catch((error: unknown) => error)).to.be.instanceOf(LimitExceededError);
    });

    it(`[D52] accept an image of 10 MB in a ${mode} by default`, async () => {
      const url = `data:image/png;base64,${'A'.repeat((10_000_000 * 4) / 3)}`;
      const images = [{ type: 'image_url', image_url: { url } }];
      wire.answer = (exchange) => {
        if (mode === 'call')
          return sendJson(exchange, {
            choices: [{ message: { content: 'x', images }, finish_reason: 'stop' }],
          });
        beginEvents(exchange);
        sendEvent(exchange, chunk({ content: 'x', images }, 'stop'));
        exchange.response.end();
      };

      expect((await ask(modelWith({}))).text).to.equal('x');
    });

    it(`[D52] read the start of an error page without end in a ${mode}, and close its connection`, async () => {
      wire.answer = (exchange) => {
        exchange.response.writeHead(400, { 'content-type': 'text/html' });
        sendForever(exchange, `<p>no ${'x'.repeat(997)}</p>`);
      };

      const error: unknown = await ask(modelWith({})).catch((thrown: unknown) => thrown);

      expect(error).to.be.instanceOf(ModelCallError).and.include({ status: 400 });
      await whenClosed((wire.server.exchanges[0] as Exchange).socket, 0);
    });

    it(`[D52] read the start of an error that expands to 40 MB in a ${mode}`, async () => {
      const bomb = gzipSync(Buffer.alloc(40_000_000, 'x'), { level: 1 });
      wire.answer = ({ response }) =>
        response.writeHead(400, { 'content-encoding': 'gzip' }).end(bomb);
      const before = process.memoryUsage.rss();

      const error: unknown = await ask(modelWith({})).catch((thrown: unknown) => thrown);

      expect(error).to.be.instanceOf(ModelCallError).and.include({ status: 400 });
      expect(process.memoryUsage.rss() - before).to.be.below(30_000_000);
    });
  }

  it('[D52] refuse embeddings without end', async () => {
    wire.answer = (exchange) => {
      exchange.response.writeHead(200).write('{"data":[');
      sendForever(exchange, '[0],'.repeat(1_000));
    };
    const { baseURL } = wire.server;
    const model = new OpenAIEmbeddingModel({ model: 'e', baseURL, maxResponseBytes: LIMIT });

    expect(await cutOf(model.embed(['a']))).to.include({ option: 'maxResponseBytes' });
  });

  it('[D52] refuse embeddings of many small values, and accept them below the limit', async () => {
    wire.answer = (exchange) =>
      sendJson(exchange, { data: [{ index: 0, embedding: [1, 2] }], ...many });
    const embed = (maxResponseValues: number): Promise<EmbeddingResponse> =>
      new OpenAIEmbeddingModel({
        model: 'm',
        apiKey: 'sk-test',
        baseURL: wire.server.baseURL,
        maxResponseValues,
      }).embed(['a']);

    const error = await refusalOf(embed(400));

    expect(error).to.include({
      limit: 'response-values',
      value: 400,
      option: 'maxResponseValues',
      message: 'The answer has more than 400 JSON values; raise maxResponseValues to change it.',
    });
    expect((await embed(2_000)).vectors).to.deep.equal([new Float32Array([1, 2])]);
  });

  it('[D52] accept a batch of long embeddings as numbers', async () => {
    const embedding = Array.from({ length: 4_096 }, (_, at) => at % 10);
    wire.answer = (exchange) =>
      sendJson(exchange, {
        data: Array.from({ length: 256 }, (_, index) => ({ index, embedding })),
      });
    const { baseURL } = wire.server;
    const model = new OpenAIEmbeddingModel({ model: 'm', apiKey: 'sk-test', baseURL });

    const { vectors } = await model.embed(Array.from({ length: 256 }, () => 'a'));

    expect(vectors).to.have.lengthOf(256);
  });
});
