import { expect } from 'chai';
import { CancelledError, InvalidArgumentError, ModelCallError } from '../../../src/index.js';
import { rerankDocuments } from '../../../src/knowledge/index.js';
import { CohereReranker, type CohereRerankerOptions } from '../../../src/models/cohere/index.js';
import { failureOf } from '../../support/modes.js';
import { idsOf, queryOf } from '../../support/queries.js';
import { ledgerOfTurn } from '../../support/query-in-turn.js';
import { sendJson, WireServer, type Exchange } from '../../support/wire-server.js';

const RESULTS = [
  { index: 2, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.2 },
  { index: 1, relevance_score: 0.1 },
];
const TEXTS = ['Paris', 'Berlin', 'Rome'];

describe('CohereReranker', () => {
  let server: WireServer;
  let reply: (exchange: Exchange) => unknown;

  before(async () => {
    server = await WireServer.start((exchange) => reply(exchange));
  });
  beforeEach(() => {
    server.exchanges.length = 0;
    reply = (exchange) => sendJson(exchange, { id: '1', results: RESULTS });
  });
  after(() => server.close());

  const make = (options: Partial<CohereRerankerOptions> = {}): CohereReranker =>
    new CohereReranker({
      model: 'rerank-v3.5',
      apiKey: 'k',
      baseURL: server.baseURL.replace('/v1', ''),
      maxRetries: 0,
      ...options,
    });

  it('sends the query with all texts and reads a score for each', async () => {
    const response = await make().rerank('Where is the Colosseum?', TEXTS);

    const [exchange] = server.exchanges;
    expect([exchange?.path, exchange?.headers.authorization]).to.deep.equal([
      '/v2/rerank',
      'Bearer k',
    ]);
    expect(exchange?.body).to.deep.equal({
      model: 'rerank-v3.5',
      query: 'Where is the Colosseum?',
      documents: TEXTS,
    });
    expect(response).to.deep.equal({
      scores: [0.2, 0.1, 0.9],
      usage: undefined,
      model: 'rerank-v3.5',
    });
  });

  it('sends maxTokensPerDocument and reads the tokens that the API counts', async () => {
    const meta = { billed_units: { search_units: 1 }, tokens: { input_tokens: 12 } };
    reply = (exchange) => sendJson(exchange, { results: RESULTS, meta });

    const { usage } = await make({ maxTokensPerDocument: 500 }).rerank('q', TEXTS);

    expect(server.exchanges[0]?.body).to.include({ max_tokens_per_doc: 500 });
    expect(usage).to.deep.equal({ inputTokens: 12, outputTokens: 0, totalTokens: 12 });
  });

  it('sends no request for no texts', async () => {
    const { scores } = await make().rerank('q', []);

    expect([scores, server.exchanges]).to.deep.equal([[], []]);
  });

  it('repeats a request that failed temporarily, and counts it once', async () => {
    reply = (exchange) => {
      if (exchange.index > 0) return sendJson(exchange, { results: RESULTS });
      exchange.response.writeHead(429, { 'retry-after-ms': '1' }).end('{"message":"slow down"}');
    };

    const ledger = await ledgerOfTurn(({ signal }) =>
      make({ maxRetries: 1 }).rerank('q', TEXTS, { signal }),
    );

    expect(server.exchanges).to.have.lengthOf(2);
    expect(ledger.map(({ kind }) => kind)).to.deep.equal(['rerank', 'chat']);
  });

  it('reports the message of the API', async () => {
    reply = (exchange) =>
      exchange.response.writeHead(400).end(JSON.stringify({ message: 'invalid model' }));

    const error = await failureOf(make().rerank('q', TEXTS));

    expect(error).to.be.instanceOf(ModelCallError).and.to.include({ status: 400 });
    expect((error as Error).message).to.include('invalid model');
  });

  for (const [name, body, problem] of [
    ['of another API', { data: [] }, 'no results'],
    ['with too few scores', { results: RESULTS.slice(1) }, '2 scores for 3 texts'],
    ['with a score that is a text', { results: [{ index: 0, relevance_score: '1' }] }, '0 scores'],
    ['with one score repeated', { results: [RESULTS[0], RESULTS[0], RESULTS[0]] }, '1 scores'],
  ] as const)
    it(`rejects an answer ${name}`, async () => {
      reply = (exchange) => sendJson(exchange, body);

      const error = await failureOf(make().rerank('q', TEXTS));

      expect(error).to.be.instanceOf(ModelCallError);
      expect((error as Error).message).to.include(problem);
    });

  it('reports an error that comes with status 200', async () => {
    reply = (exchange) => sendJson(exchange, { error: { message: 'model is loading' } });

    const error = await failureOf(make().rerank('q', TEXTS));

    expect((error as Error).message).to.include('model is loading');
  });

  it('ends its request with the run', async () => {
    const controller = new AbortController();
    reply = () => controller.abort();

    const error = await failureOf(make().rerank('q', TEXTS, { signal: controller.signal }));

    expect(error).to.be.instanceOf(CancelledError);
  });

  it('ends a request after its time limit', async () => {
    reply = () => undefined;

    const error = await failureOf(make({ timeout: 20 }).rerank('q', TEXTS));

    expect(error).to.have.property('name', 'ModelTimeoutError');
  });

  it('is in the ledger once when it reranks documents', async () => {
    const documents = TEXTS.map((text) => ({ id: text, text }));

    const ledger = await ledgerOfTurn((query) =>
      rerankDocuments({ reranker: make() })(documents, query),
    );

    expect(ledger.map(({ kind, model }) => [kind, model])).to.deep.equal([
      ['rerank', 'rerank-v3.5'],
      ['chat', 'chat'],
    ]);
  });

  it('reranks documents', async () => {
    const documents = TEXTS.map((text) => ({ id: text, text }));

    const reranked = await rerankDocuments({ reranker: make(), topK: 2 })(
      documents,
      queryOf('Where is the Colosseum?'),
    );

    expect(idsOf(reranked)).to.deep.equal(['Rome', 'Paris']);
  });

  for (const wrong of [{ model: '' }, { maxTokensPerDocument: 0 }, { topN: 3 }, { timeout: 0 }])
    it(`refuses the options ${JSON.stringify(wrong)}`, () => {
      expect(() => make(wrong)).to.throw(InvalidArgumentError, 'CohereReranker: ');
    });

  it('refuses a blank query', async () => {
    expect(await failureOf(make().rerank(' ', TEXTS))).to.be.instanceOf(InvalidArgumentError);
  });
});
