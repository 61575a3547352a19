import { expect } from 'chai';
import {
  AdvisorOrder,
  LoggerAdvisor,
  ObservabilityAdvisor,
  type ChatModel,
} from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import {
  beginEvents,
  chunk,
  completion,
  sendEvent,
  sendJson,
  sendText,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';
import { MODES, type Mode } from '../../support/modes.js';
import {
  everythingIn,
  exportedOf,
  KeptLog,
  recordMetrics,
} from '../../support/recorded-telemetry.js';
import {
  runSecretTurn,
  SECRET,
  SECRET_BASE64,
  SECRET_TURNS,
  type SecretTurn,
} from '../../support/secret-turns.js';
import { recordSpans } from '../../support/recorded-spans.js';

const KEY = 'wire-canary-9b21-of-the-server';

/** Everything that advisors with default options record of a turn. */
interface Recorded {
  readonly spans: string;
  readonly metrics: string;
  readonly log: string;
}

async function watch(mode: Mode, turn: SecretTurn, model?: ChatModel): Promise<Recorded> {
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
  expect(
    root?.attributes['advisor_chain.outcome'],
    String(root?.attributes['error.type']),
  ).to.equal(turn.ends ?? 'success');
  expect(logger.lines).to.have.length.above(1);
  return {
    spans: everythingIn(recording.spans.map(exportedOf)),
    metrics: everythingIn(await collect()),
    log: everythingIn(logger.lines),
  };
}

function expectNothingOf(secret: string, recorded: Recorded): void {
  // an excerpt shows the place of the secret, without the whole record
  for (const [where, text] of Object.entries(recorded)) {
    const at = text.indexOf(secret);
    expect(at < 0 ? '' : `${where}: …${text.slice(Math.max(0, at - 120), at + 60)}…`).to.equal('');
  }
}

for (const mode of MODES)
  describe(`telemetry without content capture, ${mode}`, () => {
    for (const turn of SECRET_TURNS)
      it(`[F95] [F96] contains no secret: ${turn.name}`, async () => {
        const recorded = await watch(mode, turn);

        expectNothingOf(SECRET, recorded);
        expectNothingOf(SECRET_BASE64, recorded);
        expect(recorded.metrics).to.include('advisor_chain.turn.duration');
      });

    it('[F95] contains no secret in the name of an error', async () => {
      const error = Object.assign(new Error('no'), { name: `key ${SECRET} was refused` });

      expectNothingOf(SECRET, await watch(mode, { name: 'named', script: [error], ends: 'error' }));
    });

    describe('of a server that echoes the API key', () => {
      let server: WireServer;
      let answer: (exchange: Exchange) => unknown;
      before(async () => {
        server = await WireServer.start((exchange) => answer(exchange));
      });
      after(() => server.close());

      const echo = {
        error: { message: `Incorrect key ${KEY} for ${SECRET}`, code: `bad ${KEY}`, type: KEY },
      };
      const headers = { 'retry-after-ms': '1', 'x-echo': `Bearer ${KEY}`, 'x-request-id': SECRET };
      const fine = (exchange: Exchange): void =>
        mode === 'call'
          ? sendJson(exchange, completion(SECRET), 200, headers)
          : sendText(exchange, SECRET);
      const answers: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
        'rejects the key': (exchange) => sendJson(exchange, echo, 401, headers),
        'is busy and then answers': (exchange) =>
          exchange.index % 3 < 2 ? sendJson(exchange, echo, 429, headers) : fine(exchange),
        'is busy permanently': (exchange) => sendJson(exchange, echo, 503, headers),
        'answers with a page': ({ response }) =>
          response.writeHead(502, { 'content-type': 'text/html' }).end(`<h1>${KEY}</h1>`),
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
        it(`[F96] contains no key when the server ${how}`, async () => {
          answer = given;
          server.exchanges.length = 0;
          const model = new OpenAIChatModel({
            model: 'm',
            apiKey: KEY,
            baseURL: server.baseURL,
            maxRetries: how.includes('busy') ? 2 : 0,
          });
          const ends = how.includes('then answers') ? 'success' : 'error';
          const recorded = await watch(mode, { name: how, script: [], ends }, model);

          expect(server.exchanges[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
          expectNothingOf(SECRET, recorded);
          expectNothingOf(KEY, recorded);
          if (how.includes('busy')) expect(recorded.spans).to.include('advisor_chain.retry');
        });
    });
  });
