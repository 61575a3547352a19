import { expect } from 'chai';
import { ModelCallError, Prompt } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { lastOf } from '../../support/recording-replay.js';
import {
  completion,
  sendJson,
  sendText,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';

const PROMPT = new Prompt('hi');
const OLD = '/v1/old/chat/completions';
const NEW = '/v1/new/chat/completions';

describe('redirects of a direct client', function () {
  this.timeout(20_000);
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;
  let model: OpenAIChatModel;

  beforeEach(async () => {
    server = await WireServer.start((exchange) => {
      if (exchange.response.req.url === OLD)
        exchange.response.writeHead(308, { location: NEW }).end();
      else answer(exchange);
    });
    model = new OpenAIChatModel({
      model: 'm',
      apiKey: 'sk-test',
      baseURL: `${server.baseURL}/old`,
      maxRetries: 0,
    });
  });
  afterEach(() => server.close());

  const paths = (): readonly (string | undefined)[] =>
    server.exchanges.map(({ response }) => response.req.url);
  const uses = [
    ['call', (exchange: Exchange) => sendJson(exchange, completion('x')), () => model.call(PROMPT)],
    ['stream', (exchange: Exchange) => sendText(exchange, 'x'), () => lastOf(model.stream(PROMPT))],
  ] as const;

  for (const [mode, how, ask] of uses) {
    it(`follows a redirect by ${mode} with the whole body`, async () => {
      answer = how;

      const { text } = await ask();

      expect(text).to.equal('x');
      expect(paths()).to.deep.equal([OLD, NEW]);
      expect(server.exchanges[1]?.body).to.deep.equal(server.exchanges[0]?.body);
    });
  }

  it('reports an endless redirect as a server that could not be reached', async () => {
    answer = ({ response }) => response.writeHead(308, { location: NEW }).end();

    const error: unknown = await model.call(PROMPT).catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(ModelCallError);
    expect(error)
      .to.have.property('message')
      .that.matches(/could not be reached.*redirect count exceeded/);
  });

  it('reports the error of the new address', async () => {
    answer = (exchange) => sendJson(exchange, { error: { message: 'no' } }, 403);

    const error: unknown = await model.call(PROMPT).catch((thrown: unknown) => thrown);

    expect(error).to.include({ status: 403, message: 'The server answered 403: no' });
  });
});
