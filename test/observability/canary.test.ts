import { expect } from 'chai';
import { AdvisorOrder, LoggerAdvisor, ObservabilityAdvisor, type ChatModel } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { beginEvents, chunk, completion, sendEvent, sendJson, sendText, WireServer, type Exchange } from '../integration/wire-server.js';
import { MODES, type Mode } from '../advisors/turn.js';
import { everythingIn, exportedOf, KeptLog, recordMetrics } from './records.js';
import { runSecretTurn, SECRET, SECRET_TURNS, type SecretTurn } from './secret-turns.js';
import { recordSpans } from './spans.js';

const KEY = 'wire-canary-9b21-of-the-server';

/** All that is told of a turn by whoever watches it, with the defaults. */
interface Told {
  readonly spans: string;
  readonly metrics: string;
  readonly log: string;
}

async function watch(mode: Mode, turn: SecretTurn, model?: ChatModel): Promise<Told> {
  const recording = recordSpans();
  const { meter, collect } = recordMetrics();
  const logger = new KeptLog();
  await runSecretTurn(
    mode,
    turn,
    [
      new ObservabilityAdvisor({ tracer: recording.tracer, meter }),
      new LoggerAdvisor({ logger, name: 'turns', order: AdvisorOrder.OBSERVABILITY + 1 }),
      new LoggerAdvisor({ logger }),
    ],
    model,
  );
  expect(recording.problems).to.deep.equal([]);
  const root = recording.spans.find(({ name }) => name === 'invoke_agent');
  expect(root?.attributes['advisor_chain.outcome'], String(root?.attributes['error.type'])).to.equal(turn.ends ?? 'success');
  expect(logger.lines).to.have.length.above(1);
  return {
    spans: everythingIn(recording.spans.map(exportedOf)),
    metrics: everythingIn(await collect()),
    log: everythingIn(logger.lines),
  };
}

function expectNothingOf(secret: string, told: Told): void {
  // the text around it shows where it is, without the whole of what was told
  for (const [where, text] of Object.entries(told)) {
    const at = text.indexOf(secret);
    expect(at < 0 ? '' : `${where}: …${text.slice(Math.max(0, at - 120), at + 60)}…`).to.equal('');
  }
}

for (const mode of MODES)
  describe(`a canary in everything that is said, ${mode}`, () => {
    for (const turn of SECRET_TURNS)
      it(`[F95] [F96] is in no span, metric and log of ${turn.name}`, async () => {
        const told = await watch(mode, turn);

        expectNothingOf(SECRET, told);
        expect(told.metrics).to.include('advisor_chain.turn.duration');
      });

    it('[F95] is in no log where the name of an error is a text of its own', async () => {
      const error = Object.assign(new Error('no'), { name: `key ${SECRET} was refused` });

      expectNothingOf(SECRET, await watch(mode, { name: 'named', script: [error], ends: 'error' }));
    });

    describe('of a server that echoes the key', () => {
      let server: WireServer;
      let answer: (exchange: Exchange) => unknown;
      before(async () => {
        server = await WireServer.start((exchange) => answer(exchange));
      });
      after(() => server.close());

      const echo = { error: { message: `Incorrect key ${KEY} for ${SECRET}`, code: `bad ${KEY}`, type: KEY } };
      const headers = { 'retry-after-ms': '1', 'x-echo': `Bearer ${KEY}`, 'x-request-id': SECRET };
      const fine = (exchange: Exchange): void =>
        mode === 'call' ? sendJson(exchange, completion(SECRET), 200, headers) : sendText(exchange, SECRET);
      const answers: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
        'refuses the key': (exchange) => sendJson(exchange, echo, 401, headers),
        'is busy and then answers': (exchange) => (exchange.index % 3 < 2 ? sendJson(exchange, echo, 429, headers) : fine(exchange)),
        'is busy for good': (exchange) => sendJson(exchange, echo, 503, headers),
        'answers with a page': ({ response }) => response.writeHead(502, { 'content-type': 'text/html' }).end(`<h1>${KEY}</h1>`),
        'fails with status 200': (exchange) => sendJson(exchange, echo),
        'hangs up': ({ socket }) => socket.destroy(),
        'breaks off in the middle': (exchange) => {
          beginEvents(exchange, headers);
          sendEvent(exchange, chunk({ content: `the key is ${KEY}, ${SECRET}` }));
          sendEvent(exchange, echo);
          exchange.response.end();
        },
      };
      for (const [how, given] of Object.entries(answers))
        it(`[F96] is in no span, metric and log when it ${how}`, async () => {
          answer = given;
          server.exchanges.length = 0;
          const model = new OpenAIChatModel({ model: 'm', apiKey: KEY, baseURL: server.baseURL, maxRetries: how.includes('busy') ? 2 : 0 });
          const ends = how.includes('then answers') ? 'success' : 'error';
          const told = await watch(mode, { name: how, script: [], ends }, model);

          expect(server.exchanges[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
          expectNothingOf(SECRET, told);
          expectNothingOf(KEY, told);
          if (how.includes('busy')) expect(told.spans).to.include('advisor_chain.retry');
        });
    });
  });
