import { expect } from 'chai';
import { ModelCallError, Prompt } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { lastOf } from '../../integration/recording-replay.js';
import { completion, sendJson, sendText, WireServer, type Exchange } from '../../integration/wire-server.js';

const PROMPT = new Prompt('hi');
const OLD = '/v1/old/chat/completions';
const NEW = '/v1/new/chat/completions';
const INIT = { window: null, redirect: 'error' };

describe('redirects of requests', function () {
  this.timeout(20_000);
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;
  let model: OpenAIChatModel;

  beforeEach(async () => {
    server = await WireServer.start((exchange) => {
      if (exchange.response.req.url === OLD) exchange.response.writeHead(308, { location: NEW }).end();
      else answer(exchange);
    });
    model = modelAt('old');
  });
  afterEach(() => server.close());

  const modelAt = (path: string): OpenAIChatModel =>
    new OpenAIChatModel({ model: 'm', apiKey: 'sk-test', baseURL: `${server.baseURL}/${path}`, maxRetries: 0 });
  const paths = (): readonly (string | undefined)[] => server.exchanges.map(({ response }) => response.req.url);
  const uses = [
    ['call', (exchange: Exchange) => sendJson(exchange, completion('x')), () => model.call(PROMPT)],
    ['stream', (exchange: Exchange) => sendText(exchange, 'x'), () => lastOf(model.stream(PROMPT))],
  ] as const;

  for (const [mode, how, ask] of uses) {
    it(`follows a redirect by ${mode} with the whole body, and asks no second time from then on`, async () => {
      answer = how;

      const texts = [(await ask()).text, (await ask()).text];

      expect(texts).to.deep.equal(['x', 'x']);
      expect(paths()).to.deep.equal([OLD, OLD, NEW, OLD, NEW]);
      expect(server.exchanges.map(({ body }) => body)).to.deep.equal(Array.from({ length: 5 }, () => server.exchanges[0]?.body));
    });
  }

  it('sends once to a server that does not redirect, and leaves it to fetch to copy nothing', async () => {
    const inits: unknown[] = [];
    const original = globalThis.fetch;
    globalThis.fetch = (url, init) => {
      inits.push(init);
      return original(url, init);
    };
    answer = (exchange) => sendJson(exchange, completion('x'));

    await modelAt('new')
      .call(PROMPT)
      .finally(() => (globalThis.fetch = original));

    expect(paths()).to.deep.equal([NEW]);
    expect(inits[0]).to.include(INIT);
  });

  it('says of a server that redirects without end that it could not be reached', async () => {
    answer = ({ response }) => response.writeHead(308, { location: NEW }).end();

    const error: unknown = await model.call(PROMPT).catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(ModelCallError);
    expect(error)
      .to.have.property('message')
      .that.matches(/could not be reached.*redirect count exceeded/);
  });

  it('fails as before where the new address refuses', async () => {
    answer = (exchange) => sendJson(exchange, { error: { message: 'no' } }, 403);

    const error: unknown = await model.call(PROMPT).catch((thrown: unknown) => thrown);

    expect(error).to.include({ status: 403, message: 'The server answered 403: no' });
  });
});
