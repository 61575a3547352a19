import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { expect } from 'chai';
import OpenAI, { AzureOpenAI } from 'openai';
import {
  CancelledError,
  IncompleteResponseError,
  InvalidArgumentError,
  LimitExceededError,
  ModelCallError,
  ModelTimeoutError,
} from '../../../src/core/errors/errors.js';
import {
  OpenAIEmbeddingModel,
  type OpenAIEmbeddingModelOptions,
} from '../../../src/models/openai/openai-embedding-model.js';
import { sendJson, WireServer, whenClosed, type Exchange } from '../../support/wire-server.js';
import { withoutVariable } from '../../support/without-variable.js';

const KEY = 'sk-test-0123456789abcdef';
const NO_WAIT = { 'retry-after-ms': '1' };

/** Little endian, as OpenAI sends it. */
function base64(...numbers: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(numbers.length * 4));
  for (const [at, number] of numbers.entries()) view.setFloat32(at * 4, number, true);
  return Buffer.from(view.buffer).toString('base64');
}

function inputOf(exchange: Exchange): readonly string[] {
  return exchange.body['input'] as readonly string[];
}

/** An answer with these vectors, in order. */
function answerOf(...embeddings: readonly unknown[]): object {
  return {
    data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model: 'm-2',
  };
}

/** Answers each text with its length and 0.5, and counts a token for each text. */
function reply(exchange: Exchange): void {
  const input = inputOf(exchange);
  const usage = { prompt_tokens: input.length, total_tokens: input.length };
  sendJson(exchange, { ...answerOf(...input.map((text) => base64(text.length, 0.5))), usage });
}

describe('OpenAIEmbeddingModel', function () {
  this.timeout(10_000);
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  beforeEach(async () => {
    answer = reply;
    server = await WireServer.start((exchange) => answer(exchange));
  });
  afterEach(() => server.close());

  function modelWith(options: Partial<OpenAIEmbeddingModelOptions> = {}): OpenAIEmbeddingModel {
    return new OpenAIEmbeddingModel({
      model: 'm',
      apiKey: KEY,
      baseURL: server.baseURL,
      maxRetries: 0,
      ...options,
    });
  }

  async function errorOf(run: Promise<unknown>): Promise<ModelCallError> {
    return (await run.then(
      () => expect.fail('no error'),
      (error: unknown) => error,
    )) as ModelCallError;
  }

  describe('one batch', () => {
    it('returns one vector for each text, the usage and the model', async () => {
      const response = await modelWith().embed(['a', 'four']);

      expect(response).to.deep.equal({
        vectors: [new Float32Array([1, 0.5]), new Float32Array([4, 0.5])],
        usage: { inputTokens: 2, outputTokens: 0, totalTokens: 2 },
        model: 'm-2',
      });
      expect(server.exchanges).to.have.length(1);
      expect(server.exchanges[0]?.response.req.url).to.equal('/v1/embeddings');
      expect(server.exchanges[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
      expect(server.exchanges[0]?.body).to.deep.equal({
        model: 'm',
        input: ['a', 'four'],
        encoding_format: 'base64',
      });
    });

    it('sends no request for no texts', async () => {
      expect(await modelWith().embed([])).to.deep.equal({
        vectors: [],
        usage: undefined,
        model: undefined,
      });
      expect(server.exchanges).to.have.length(0);
    });

    it('sends texts unchanged', async () => {
      const texts = ['"\\\n\u0000\u2028', '__proto__', '😀\ud800', ' a ', '</script>{{x}}'];

      await modelWith().embed(texts);

      expect(inputOf(server.exchanges[0] as Exchange)).to.deep.equal(texts);
    });

    it('requests dimensions', async () => {
      await modelWith({ dimensions: 2 }).embed(['a']);

      expect(server.exchanges[0]?.body).to.include({ dimensions: 2 });
    });

    it('decodes every 32-bit float exactly', async () => {
      const numbers = [0.1, -0, 1e-45, 3.4028234663852886e38, -1 / 3].map(Math.fround);
      answer = (exchange) => sendJson(exchange, answerOf(base64(...numbers)));

      expect([...((await modelWith().embed(['a'])).vectors[0] as Float32Array)]).to.deep.equal(
        numbers,
      );
    });

    it('reads arrays of numbers from a server without base64', async () => {
      answer = (exchange) => sendJson(exchange, answerOf([0.1, 2], [3, -4]));

      const { vectors, usage } = await modelWith().embed(['a', 'b']);

      expect(vectors).to.deep.equal([new Float32Array([0.1, 2]), new Float32Array([3, -4])]);
      expect(usage).to.equal(undefined);
    });

    it('sorts vectors by their index', async () => {
      const data = [2, 0, 1].map((index) => ({ index, embedding: [index] }));
      answer = (exchange) => sendJson(exchange, { data });

      expect((await modelWith().embed(['a', 'b', 'c'])).vectors).to.deep.equal(
        [0, 1, 2].map((value) => new Float32Array([value])),
      );
    });
  });

  describe('batches', () => {
    it('follow one another; their vectors are in order and their usage is summed', async () => {
      let open = 0;
      answer = (exchange) => {
        expect(++open).to.equal(1);
        setTimeout(() => {
          open--;
          reply(exchange);
        }, 5);
      };

      const { vectors, usage, model } = await modelWith({ batchSize: 2 }).embed([
        'a',
        'bb',
        'ccc',
        'dddd',
        'eeeee',
      ]);

      expect(server.exchanges.map(inputOf)).to.deep.equal([
        ['a', 'bb'],
        ['ccc', 'dddd'],
        ['eeeee'],
      ]);
      expect(vectors.map(([length]) => length)).to.deep.equal([1, 2, 3, 4, 5]);
      expect(usage).to.deep.equal({ inputTokens: 5, outputTokens: 0, totalTokens: 5 });
      expect(model).to.equal('m-2');
    });

    it('have 256 texts by default', async () => {
      await modelWith().embed(Array.from({ length: 257 }, (_, at) => `text ${at}`));

      expect(server.exchanges.map((exchange) => inputOf(exchange).length)).to.deep.equal([256, 1]);
    });

    it('ignore later changes of the array', async () => {
      const texts = ['a', 'b'];
      const run = modelWith({ batchSize: 1 }).embed(texts);
      texts[1] = 'changed';
      await run;

      expect(server.exchanges.map(inputOf)).to.deep.equal([['a'], ['b']]);
    });

    it('end with the first that fails', async () => {
      answer = (exchange) =>
        exchange.index === 1
          ? sendJson(exchange, { error: { message: 'no' } }, 400)
          : reply(exchange);

      const error = await errorOf(modelWith({ batchSize: 1 }).embed(['a', 'b', 'c']));

      expect(error).to.be.instanceOf(ModelCallError).and.include({ status: 400, retryable: false });
      expect(server.exchanges).to.have.length(2);
    });

    it('must have vectors of the same length', async () => {
      answer = (exchange) =>
        sendJson(exchange, answerOf(exchange.index === 0 ? [1, 2] : [1, 2, 3]));

      const error = await errorOf(modelWith({ batchSize: 1 }).embed(['a', 'b']));

      expect(error)
        .to.be.instanceOf(ModelCallError)
        .and.have.property('message')
        .that.includes('3 dimensions where 2 were expected');
    });
  });

  describe('rejects a response', () => {
    const unusable: readonly (readonly [title: string, body: unknown, message: string])[] = [
      ['with too few vectors', answerOf([1]), '1 vectors for 2 texts'],
      ['with too many vectors', answerOf([1], [1], [1]), '3 vectors for 2 texts'],
      [
        'with vectors of different lengths',
        answerOf([1, 2], [1]),
        '1 dimensions where 2 were expected',
      ],
      ['with an empty vector', answerOf([1], []), 'an empty vector (index 1)'],
      ['with an empty base64 vector', answerOf([1], ''), 'an empty vector (index 1)'],
      ['with NaN', answerOf([1], base64(Number.NaN)), 'NaN or Infinity (index 1)'],
      ['with Infinity', answerOf([1], base64(-Infinity)), 'NaN or Infinity (index 1)'],
      ['with a number too large for 32 bits', answerOf([1], [1e39]), 'NaN or Infinity (index 1)'],
      ['with base64 that is none', answerOf([1], '*'), 'neither numbers nor base64'],
      [
        'with bytes that are no whole floats',
        answerOf([1], 'AAAAAAA='),
        'neither numbers nor base64',
      ],
      ['with null among the numbers', answerOf([1], [null]), 'neither numbers nor base64'],
      ['with a text among the numbers', answerOf([1], ['0.5']), 'neither numbers nor base64'],
      ['without a vector', answerOf([1], null), 'neither numbers nor base64'],
      [
        'with the same index twice',
        { data: [0, 0].map((index) => ({ index, embedding: [1] })) },
        'indexes are not 0 to 1',
      ],
      [
        'with an index too high',
        { data: [0, 2].map((index) => ({ index, embedding: [1] })) },
        'indexes are not 0 to 1',
      ],
      [
        'with a negative index',
        { data: [0, -1].map((index) => ({ index, embedding: [1] })) },
        'indexes are not 0 to 1',
      ],
      [
        'with a fractional index',
        { data: [0, 0.5].map((index) => ({ index, embedding: [1] })) },
        'indexes are not 0 to 1',
      ],
      [
        'without indexes',
        { data: [{ embedding: [1] }, { embedding: [2] }] },
        'indexes are not 0 to 1',
      ],
      ['whose items are no objects', { data: [null, [1]] }, 'indexes are not 0 to 1'],
      ['without data', { object: 'list' }, 'not with embeddings (no data)'],
      ['that is no object', 5, 'not with embeddings (no data)'],
      ['that is an error', { error: { message: 'out of memory', code: 'oom' } }, 'out of memory'],
      ['that is an error in a list', [{ error: { message: 'out of memory' } }], 'out of memory'],
      [
        'that is an error without a field for it',
        { object: 'error', message: 'out of memory' },
        'out of memory',
      ],
    ];
    for (const [title, body, message] of unusable) {
      it(`${title}, without a retry`, async () => {
        answer = (exchange) => sendJson(exchange, body);

        const error = await errorOf(modelWith({ maxRetries: 2 }).embed(['a', 'b']));

        expect(error).to.be.instanceOf(ModelCallError).and.include({ retryable: false });
        expect(error.message).to.include(message);
        expect(server.exchanges).to.have.length(1);
      });
    }

    it('with other dimensions than requested', async () => {
      const error = await errorOf(modelWith({ dimensions: 3 }).embed(['a']));

      expect(error).to.be.instanceOf(ModelCallError);
      expect(error.message).to.include('2 dimensions where 3 were expected');
    });

    it('that is an HTML page', async () => {
      answer = ({ response }) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');

      const error = await errorOf(modelWith().embed(['a']));

      expect(error).to.be.instanceOf(ModelCallError);
      expect(error.message).to.include('text/html').and.include('base URL');
    });

    it('that ends early', async () => {
      answer = ({ response, socket }) => {
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
          .write('{"data":');
        setTimeout(() => socket.destroy(), 20);
      };

      const error = await errorOf(modelWith().embed(['a']));

      expect(error).to.be.instanceOf(IncompleteResponseError).and.include({ retryable: true });
    });
  });

  describe('retries', () => {
    it('repeat only the batch that failed temporarily', async () => {
      answer = (exchange) =>
        exchange.index === 1 ? sendJson(exchange, {}, 503, NO_WAIT) : reply(exchange);

      const { vectors } = await modelWith({ batchSize: 1, maxRetries: 1 }).embed(['a', 'bb']);

      expect(vectors.map(([length]) => length)).to.deep.equal([1, 2]);
      expect(server.exchanges.map(inputOf)).to.deep.equal([['a'], ['bb'], ['bb']]);
    });

    it('are 2 by default, also through a client with retries of its own', async () => {
      answer = (exchange) => sendJson(exchange, { error: { message: 'busy' } }, 429, NO_WAIT);
      const client = new OpenAI({ apiKey: KEY, baseURL: server.baseURL, maxRetries: 5 });

      const error = await errorOf(new OpenAIEmbeddingModel({ model: 'm', client }).embed(['a']));

      expect(error)
        .to.be.instanceOf(ModelCallError)
        .and.include({ status: 429, retryable: true, providerMessage: 'busy' });
      expect(server.exchanges).to.have.length(3);
    });

    it('repeat a batch without a response in time', async () => {
      answer = (exchange) => exchange.index === 1 && reply(exchange);

      const { vectors } = await modelWith({ timeout: 250, maxRetries: 1 }).embed(['a']);

      expect(vectors).to.have.length(1);
      expect(server.exchanges).to.have.length(2);
    });

    it('do not repeat a permanent failure', async () => {
      answer = (exchange) =>
        sendJson(
          exchange,
          { error: { message: 'too long', code: 'context_length_exceeded' } },
          400,
        );

      const error = await errorOf(modelWith({ maxRetries: 2 }).embed(['a']));

      expect(error).to.include({
        status: 400,
        providerCode: 'context_length_exceeded',
        retryable: false,
      });
      expect(server.exchanges).to.have.length(1);
    });
  });

  describe('fails', () => {
    it('with the reason of the server in any form', async () => {
      answer = (exchange) => sendJson(exchange, { detail: 'model not loaded' }, 404);

      expect((await errorOf(modelWith().embed(['a']))).providerMessage).to.equal(
        'model not loaded',
      );
    });

    it('when the server cannot be reached', async () => {
      const model = modelWith();
      await server.close();

      expect(await errorOf(model.embed(['a'])))
        .to.be.instanceOf(ModelCallError)
        .and.include({ retryable: true, status: undefined });
      server = await WireServer.start(reply);
    });

    const silences: readonly (readonly [title: string, answer: (exchange: Exchange) => unknown])[] =
      [
        ['that sends nothing', () => undefined],
        [
          'whose body stops',
          ({ response }) =>
            response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":'),
        ],
      ];
    for (const [title, silence] of silences) {
      it(`at the timeout with a server ${title}, and closes the connection`, async () => {
        answer = silence;

        const error = await errorOf(modelWith({ timeout: 60 }).embed(['a']));

        expect(error).to.be.instanceOf(ModelTimeoutError).and.include({ retryable: true });
        expect(error.message).to.include('60 ms (option timeout)');
        await whenClosed((await server.nextExchange(1)).socket, 0);
      });

      it(`when it is cancelled with a server ${title}, and closes the connection and sends no further batch`, async () => {
        answer = silence;
        const controller = new AbortController();
        const run = errorOf(
          modelWith({ batchSize: 1, maxRetries: 2 }).embed(['a', 'b'], {
            signal: controller.signal,
          }),
        );
        const { socket } = await server.nextExchange(1);
        await new Promise((resolve) => setTimeout(resolve, 20));

        controller.abort('enough');

        expect(await run)
          .to.be.instanceOf(CancelledError)
          .and.include({ cause: 'enough' });
        await whenClosed(socket, 0);
        expect(server.exchanges).to.have.length(1);
      });
    }

    it('when it is cancelled between two attempts', async () => {
      answer = (exchange) => sendJson(exchange, {}, 503, { 'retry-after': '30' });
      const controller = new AbortController();
      const run = errorOf(modelWith({ maxRetries: 1 }).embed(['a'], { signal: controller.signal }));
      await server.nextExchange(1);
      await new Promise((resolve) => setTimeout(resolve, 20));

      controller.abort();

      expect(await run).to.be.instanceOf(CancelledError);
    });

    it('before it sends anything when the run is already cancelled', async () => {
      expect(
        await errorOf(modelWith().embed(['a'], { signal: AbortSignal.abort() })),
      ).to.be.instanceOf(CancelledError);
      expect(server.exchanges).to.have.length(0);
    });

    it('with the reason of the cancellation if it is an error of this package', async () => {
      const reason = new LimitExceededError('too much', {
        limit: 'iterations',
        value: 1,
        spent: 1,
        option: 'maxIterations',
      });

      expect(
        await errorOf(
          modelWith().embed(['a'], { onCancel: (cancel) => (cancel(reason), () => undefined) }),
        ),
      ).to.equal(reason);
    });
  });

  it('leaves no listener on the signal of a run', async () => {
    const { signal } = new AbortController();

    await modelWith({ batchSize: 1 }).embed(['a', 'b'], { signal });

    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  const texts: readonly (readonly [title: string, text: unknown])[] = [
    ['empty', ''],
    ['blank', ' \n'],
    ['no text', 5],
    ['missing', undefined],
  ];
  for (const [title, text] of texts) {
    it(`rejects a text that is ${title}, names its index and sends nothing`, async () => {
      const error = await errorOf(modelWith({ batchSize: 1 }).embed(['a', text as string]));

      expect(error).to.be.instanceOf(InvalidArgumentError);
      expect(error.message).to.include('texts[1] must be a non-blank string');
      expect(server.exchanges).to.have.length(0);
    });
  }

  it('rejects a string in place of an array', async () => {
    expect((await errorOf(modelWith().embed('abc' as never))).message).to.include(
      'texts must be an array of strings, not "abc"',
    );
  });

  it('works with a client for Azure', async () => {
    const endpoint = server.baseURL.replace('/v1', '');
    const client = new AzureOpenAI({ apiKey: 'azure-key', endpoint, apiVersion: '2024-10-21' });

    expect(
      (await new OpenAIEmbeddingModel({ model: 'deployed', client }).embed(['a'])).vectors,
    ).to.have.length(1);
    expect(server.exchanges[0]?.response.req.url).to.equal(
      '/openai/deployments/deployed/embeddings?api-version=2024-10-21',
    );
  });

  it('works with a ready client and its headers', async () => {
    const client = new OpenAI({
      apiKey: 'sk-own',
      baseURL: server.baseURL,
      defaultHeaders: { 'x-team': 'blue' },
    });

    await new OpenAIEmbeddingModel({ model: 'm', client }).embed(['a']);

    expect(server.exchanges[0]?.headers).to.include({
      authorization: 'Bearer sk-own',
      'x-team': 'blue',
    });
  });

  describe('apiKey', () => {
    const name = 'OPENAI_API_KEY';
    withoutVariable(name);

    it('is read from the environment', async () => {
      process.env[name] = 'sk-from-env';

      await new OpenAIEmbeddingModel({ model: 'm', baseURL: server.baseURL }).embed(['a']);

      expect(server.exchanges[0]?.headers.authorization).to.equal('Bearer sk-from-env');
    });

    it('is not needed with a base URL', async () => {
      expect(
        (await new OpenAIEmbeddingModel({ model: 'm', baseURL: server.baseURL }).embed(['a']))
          .vectors,
      ).to.have.length(1);
    });

    it('is required without a base URL', () => {
      expect(() => new OpenAIEmbeddingModel({ model: 'm' })).to.throw(
        InvalidArgumentError,
        'OpenAIEmbeddingModel: give apiKey',
      );
    });

    it('does not appear in the model', () => {
      const model = modelWith();

      expect(
        `${inspect(model, { depth: null, showHidden: true })}${JSON.stringify(model)}`,
      ).to.not.include(KEY);
    });

    it('does not appear in an error, even if the server repeats it', async () => {
      answer = (exchange) => sendJson(exchange, { error: { message: `bad key ${KEY}` } }, 401);

      const error = await errorOf(modelWith().embed(['a']));

      expect(error.message).to.include('bad key ***');
      expect(
        `${inspect(error, { depth: null, showHidden: true })}${JSON.stringify(error)}`,
      ).to.not.include(KEY);
    });
  });

  const rejected: readonly (readonly [title: string, options: object, message: string])[] = [
    ['no model', { model: undefined }, 'model must be a non-blank string, not undefined'],
    ['a blank model', { model: ' ' }, 'model must be a non-blank string'],
    [
      'an unknown option',
      { dimension: 1 },
      'there is no option `dimension`; did you mean `dimensions`?',
    ],
    ['dimensions of 0', { dimensions: 0 }, 'dimensions must be an integer >= 1, not 0'],
    ['a batchSize of 0', { batchSize: 0 }, 'batchSize must be an integer from 1 to 2048, not 0'],
    [
      'a batchSize above 2048',
      { batchSize: 2049 },
      'batchSize must be an integer from 1 to 2048, not 2049',
    ],
    [
      'a fractional batchSize',
      { batchSize: 1.5 },
      'batchSize must be an integer from 1 to 2048, not 1.5',
    ],
    ['a negative maxRetries', { maxRetries: -1 }, 'maxRetries must be an integer >= 0, not -1'],
    [
      'a timeout of 0',
      { timeout: 0 },
      'timeout must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not 0',
    ],
    [
      'a timeout that is NaN',
      { timeout: Number.NaN },
      'timeout must be a number of milliseconds > 0 and < 2 ** 31, or Infinity, not NaN',
    ],
    ['a blank key', { apiKey: ' ' }, 'apiKey must be a non-blank string'],
    ['an invalid base URL', { baseURL: 'v1' }, 'baseURL must be an address'],
    [
      'a base URL with credentials',
      { baseURL: 'http://a:b@127.0.0.1/v1' },
      'baseURL must be an address',
    ],
  ];
  for (const [title, options, message] of rejected) {
    it(`rejects ${title} with a message that names the rule`, () => {
      expect(() => new OpenAIEmbeddingModel({ model: 'm', apiKey: KEY, ...options })).to.throw(
        InvalidArgumentError,
        message,
      );
    });
  }
});
