import { expect } from 'chai';
import OpenAI, { AzureOpenAI } from 'openai';
import { ModelCallError, Prompt } from '../../../src/index.js';
import { OpenAIChatModel, type OpenAIChatModelOptions } from '../../../src/models/openai/index.js';
import { lastOf } from '../../support/recording-replay.js';
import { useWireModel } from '../../support/wire-model.js';
import { completion, sendJson, sendText, WireServer } from '../../support/wire-server.js';

const PROMPT = new Prompt('the secret prompt');
const KEY = 'sk-key-of-the-customer';

const asks = {
  call: (model: OpenAIChatModel) => model.call(PROMPT),
  stream: (model: OpenAIChatModel) => lastOf(model.stream(PROMPT)),
};

/** Models that reach a server, by its base URL. */
const models: Record<string, (baseURL: string) => Partial<OpenAIChatModelOptions>> = {
  'a direct client': (baseURL) => ({ apiKey: KEY, baseURL }),
  'a client of the package': (baseURL) => ({
    client: new OpenAI({
      apiKey: KEY,
      baseURL,
      organization: 'org-of-the-customer',
      defaultHeaders: { 'x-api-key': KEY },
    }),
  }),
  'a client for Azure': (baseURL) => ({
    client: new AzureOpenAI({ apiKey: KEY, baseURL, apiVersion: '2024-10-21' }),
  }),
};

describe('redirects to another origin', function () {
  this.timeout(20_000);
  const wire = useWireModel();
  let foreign: WireServer;

  beforeEach(async () => {
    foreign = await WireServer.start((exchange) =>
      exchange.body['stream']
        ? sendText(exchange, 'a foreign answer')
        : sendJson(exchange, completion('a foreign answer')),
    );
  });
  afterEach(() => foreign.close());

  for (const [title, options] of Object.entries(models)) {
    const modelOf = (): OpenAIChatModel =>
      new OpenAIChatModel({ model: 'm', maxRetries: 2, ...options(wire.server.baseURL) });

    for (const status of [301, 302, 303, 307, 308])
      for (const mode of ['call', 'stream'] as const)
        it(`[F91] [D46] sends nothing elsewhere from ${title} at a ${status}, in a ${mode}`, async () => {
          wire.answer = ({ response }) =>
            response
              .writeHead(status, { location: `${foreign.baseURL}/x?token=a-token-of-theirs` })
              .end();

          const error: unknown = await asks[mode](modelOf()).catch((thrown: unknown) => thrown);

          expect(foreign.connections).to.equal(0);
          expect(wire.server.exchanges).to.have.length(1);
          expect(error).to.be.instanceOf(ModelCallError).and.include({ status, retryable: false });
          expect(error)
            .to.have.property('message')
            .that.includes(new URL(foreign.baseURL).origin)
            .and.does.not.include('a-token-of-theirs');
        });

    it(`[D46] sends nothing elsewhere from ${title} after a redirect within the origin`, async () => {
      wire.answer = ({ index, response }) =>
        response
          .writeHead(307, { location: index === 0 ? '/v1/new' : `${foreign.baseURL}/x` })
          .end();

      const error: unknown = await modelOf()
        .call(PROMPT)
        .catch((thrown: unknown) => thrown);

      expect(foreign.connections).to.equal(0);
      expect(error).to.be.instanceOf(ModelCallError);
    });

    for (const location of ['//localhost:9/x', 'file:///etc/passwd', 'data:,x', 'http://[', ''])
      it(`[D46] follows no redirect of ${title} to ${JSON.stringify(location)}`, async () => {
        wire.answer = ({ response }) => response.writeHead(308, { location }).end();

        const error: unknown = await modelOf()
          .call(PROMPT)
          .catch((thrown: unknown) => thrown);

        expect(error).to.be.instanceOf(ModelCallError);
      });

    for (const mode of ['call', 'stream'] as const)
      it(`follows a redirect within the origin from ${title}, in a ${mode}`, async () => {
        wire.answer = (exchange) => {
          if (exchange.index === 0)
            exchange.response.writeHead(308, { location: '/v1/new?a=1' }).end();
          else if (mode === 'stream') sendText(exchange, 'x');
          else sendJson(exchange, completion('x'));
        };

        const { text } = await asks[mode](modelOf());

        expect(text).to.equal('x');
        const [first, second] = wire.server.exchanges;
        expect(second?.response.req.url).to.match(/^\/v1\/new\?a=1/);
        expect(second?.body).to.deep.equal(first?.body);
        for (const name of ['authorization', 'api-key'])
          expect(second?.headers[name]).to.equal(first?.headers[name]);
      });

    it(`follows a 303 within the origin from ${title} without a body`, async () => {
      wire.answer = (exchange) =>
        exchange.index === 0
          ? exchange.response.writeHead(303, { location: '/v1/new' }).end()
          : sendJson(exchange, completion('x'));

      expect((await modelOf().call(PROMPT)).text).to.equal('x');
      expect(wire.server.exchanges[1]?.response.req.method).to.equal('GET');
      expect(wire.server.exchanges[1]?.body).to.deep.equal({});
    });
  }

  it('[D46] takes no answer of another origin from a fetch that follows by itself', async () => {
    wire.answer = ({ response }) =>
      response.writeHead(302, { location: `${foreign.baseURL}/x` }).end();
    const client = new OpenAI({
      apiKey: KEY,
      baseURL: wire.server.baseURL,
      fetch: (input, init) => fetch(input, { ...init, redirect: 'follow' }),
    });

    const error: unknown = await new OpenAIChatModel({ model: 'm', client })
      .call(PROMPT)
      .catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(ModelCallError).and.include({ retryable: false });
  });
});
