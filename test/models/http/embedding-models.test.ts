import { expect } from 'chai';
import { InvalidArgumentError, ModelCallError } from '../../../src/index.js';
import { CohereEmbeddingModel } from '../../../src/models/cohere/index.js';
import { GoogleEmbeddingModel } from '../../../src/models/google/index.js';
import { OllamaEmbeddingModel } from '../../../src/models/ollama/index.js';
import { rejectionOf } from '../../support/wire-answers.js';
import { sendJson, WireServer, type Exchange } from '../../support/wire-server.js';

const VECTORS = [
  [0.5, -0.25],
  [1, 2],
];

/** Embedding models besides OpenAI's, which has tests of its own. */
const MODELS = {
  OllamaEmbeddingModel: {
    make: (baseURL: string, options: object = {}) =>
      new OllamaEmbeddingModel({ model: 'm', baseURL, maxRetries: 0, ...options }),
    options: { keepAlive: -1, dimensions: 2 },
    path: '/api/embed',
    body: { model: 'm', input: ['a', 'b'], dimensions: 2, keep_alive: -1 },
    answer: { model: 'm2', embeddings: VECTORS, prompt_eval_count: 5 },
    invalid: { keepAlive: '' },
    response: { model: 'm2' },
  },
  CohereEmbeddingModel: {
    make: (baseURL: string, options: object = {}) =>
      new CohereEmbeddingModel({
        model: 'm',
        apiKey: 'k',
        baseURL,
        maxRetries: 0,
        ...options,
      }),
    options: { inputType: 'search_query', dimensions: 2 },
    path: '/v2/embed',
    body: {
      model: 'm',
      texts: ['a', 'b'],
      input_type: 'search_query',
      embedding_types: ['float'],
      output_dimension: 2,
    },
    answer: { embeddings: { float: VECTORS }, meta: { billed_units: { input_tokens: 5 } } },
    invalid: { inputType: 'poem' },
    response: { model: undefined },
  },
  GoogleEmbeddingModel: {
    make: (baseURL: string, options: object = {}) =>
      new GoogleEmbeddingModel({ model: 'm', apiKey: 'k', baseURL, maxRetries: 0, ...options }),
    options: { taskType: 'RETRIEVAL_QUERY', dimensions: 2 },
    path: '/v1beta/models/m:batchEmbedContents',
    body: {
      requests: ['a', 'b'].map((text) => ({
        model: 'models/m',
        content: { parts: [{ text }] },
        taskType: 'RETRIEVAL_QUERY',
        outputDimensionality: 2,
      })),
    },
    answer: { embeddings: VECTORS.map((values) => ({ values })) },
    invalid: { taskType: '' },
    response: { model: undefined, usage: undefined },
  },
};

for (const [name, { make, options, path, body, answer, invalid, response }] of Object.entries(
  MODELS,
))
  describe(name, () => {
    let server: WireServer;
    let reply: (exchange: Exchange) => unknown;

    before(async () => {
      server = await WireServer.start((exchange) => reply(exchange));
    });
    beforeEach(() => {
      server.exchanges.length = 0;
      reply = (exchange) => sendJson(exchange, answer);
    });
    after(() => server.close());
    const root = (): string => server.baseURL.replace('/v1', '');

    it('sends the texts of a batch and reads one vector for each', async () => {
      const embedded = await make(root(), options).embed(['a', 'b']);

      const [exchange] = server.exchanges;
      expect([exchange?.path, exchange?.body]).to.deep.equal([path, body]);
      expect(embedded).to.deep.equal({
        vectors: VECTORS.map((vector) => Float32Array.from(vector)),
        usage: { inputTokens: 5, outputTokens: 0, totalTokens: 5 },
        ...response,
      });
    });

    it('sends no request for no texts', async () => {
      const { vectors } = await make(root()).embed([]);

      expect([vectors, server.exchanges]).to.deep.equal([[], []]);
    });

    it('rejects another number of vectors', async () => {
      const error = await rejectionOf(make(root()).embed(['a', 'b', 'c']));

      expect(error).to.be.instanceOf(ModelCallError);
      expect((error as Error).message).to.include('2 vectors for 3 texts');
    });

    it('rejects vectors of another length than the one asked for', async () => {
      const error = await rejectionOf(make(root(), { dimensions: 3 }).embed(['a', 'b']));

      expect((error as Error).message).to.include('2 dimensions where 3 were expected');
    });

    it('rejects an answer of another API', async () => {
      reply = (exchange) => sendJson(exchange, { data: [] });

      const error = await rejectionOf(make(root()).embed(['a', 'b']));

      expect((error as Error).message).to.include('not with embeddings (no embeddings)');
    });

    for (const wrong of [invalid, { other: 1 }, { batchSize: 0 }, { model: '' }])
      it(`refuses the options ${JSON.stringify(wrong)}`, () => {
        expect(() => make(root(), wrong)).to.throw(InvalidArgumentError, `${name}: `);
      });
  });

describe('GoogleEmbeddingModel at Vertex AI', () => {
  it('is refused, since its API is another one', () => {
    const baseURL = 'https://europe-west1-aiplatform.googleapis.com/v1/projects/p';

    const make = (): unknown => new GoogleEmbeddingModel({ model: 'm', apiKey: 'k', baseURL });

    expect(make).to.throw(InvalidArgumentError, 'Vertex AI has another API');
  });
});
