import { expect } from 'chai';
import { AdvisorContext, InvalidArgumentError, type CheckRule } from '../../../src/index.js';
import {
  openAIModerationRule,
  type OpenAIModerationRuleOptions,
} from '../../../src/models/openai/index.js';
import { failureOf } from '../../support/modes.js';
import { sendJson, WireServer, whenClosed, type Exchange } from '../../support/wire-server.js';
import { withoutVariable } from '../../support/without-variable.js';

const NO_WAIT = { 'retry-after-ms': '1' };
const KEY = 'sk-test-0123456789abcdef';

/** A moderation as the server sends it. */
const moderation = (flagged: boolean, scores: Readonly<Record<string, number>>) => ({
  id: 'modr-1',
  model: 'omni-moderation-latest',
  results: [
    {
      flagged,
      categories: Object.fromEntries(
        Object.entries(scores).map(([name, score]) => [name, score > 0.5]),
      ),
      category_scores: scores,
    },
  ],
});

describe('openAIModerationRule', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  beforeEach(async () => {
    server = await WireServer.start((exchange) => answer(exchange));
  });
  afterEach(() => server.close());

  const ruleWith = (options: OpenAIModerationRuleOptions = {}): CheckRule =>
    openAIModerationRule({ apiKey: KEY, baseURL: server.baseURL, ...options });
  const check = async (rule: CheckRule, signal = new AbortController().signal) =>
    rule.check('a text', { where: 'input', context: AdvisorContext.empty, signal });

  it('asks the endpoint, and has the categories as kinds', async () => {
    answer = (exchange) => sendJson(exchange, moderation(true, { hate: 0.9, violence: 0.1 }));

    expect(await check(ruleWith())).to.deep.equal({ flagged: true, kinds: ['hate'] });
    const [{ path, body, headers } = {} as Exchange] = server.exchanges;
    expect(path).to.equal('/v1/moderations');
    expect(body).to.deep.equal({ model: 'omni-moderation-latest', input: 'a text' });
    expect(headers.authorization).to.equal(`Bearer ${KEY}`);
  });

  it('lets a text pass that is not flagged', async () => {
    answer = (exchange) => sendJson(exchange, moderation(false, { hate: 0.1 }));

    expect(await check(ruleWith())).to.deep.equal({ flagged: false });
  });

  it('flags a text if the server does, with no category that is true', async () => {
    answer = (exchange) => sendJson(exchange, moderation(true, { hate: 0.1 }));

    expect(await check(ruleWith())).to.deep.equal({ flagged: true });
  });

  it('counts chosen categories, from a score', async () => {
    answer = (exchange) => sendJson(exchange, moderation(true, { hate: 0.9, violence: 0.2 }));

    expect(await check(ruleWith({ categories: ['violence'] }))).to.deep.equal({ flagged: false });
    expect(await check(ruleWith({ threshold: 0.2 }))).to.deep.equal({
      flagged: true,
      kinds: ['hate', 'violence'],
    });
    expect(await check(ruleWith({ threshold: 0.95 }))).to.deep.equal({ flagged: false });
  });

  for (const [what, body, options] of [
    ['no results', { results: [] }],
    ['two results', { results: [{ flagged: false, categories: {} }, {}] }],
    ['no verdict', { results: [{ categories: {} }] }],
    ['no scores', { results: [{ flagged: false, categories: {} }] }, { threshold: 0.5 }],
    ['a missing category', moderation(false, { hate: 0 }), { categories: ['spam'] }],
    ['an error', { error: { message: 'no' } }],
  ] as const)
    it(`fails at an answer with ${what}`, async () => {
      answer = (exchange) => sendJson(exchange, body);
      const failure = await failureOf(check(ruleWith({ maxRetries: 0, ...options })));

      expect(failure).to.have.property('code', 'model_call');
      expect(String(failure)).not.to.include(KEY);
    });

  it('fails at a page', async () => {
    answer = ({ response }) => response.end('<html>');

    expect(await failureOf(check(ruleWith()))).to.have.property('code', 'model_call');
  });

  it('asks again after a temporary failure', async () => {
    answer = (exchange) =>
      exchange.index === 0
        ? void exchange.response.writeHead(503, NO_WAIT).end('{}')
        : sendJson(exchange, moderation(false, {}));

    expect(await check(ruleWith())).to.deep.equal({ flagged: false });
    expect(server.exchanges).to.have.length(2);
  });

  it('closes its request with the signal', async () => {
    const controller = new AbortController();
    let closed: Promise<unknown> = Promise.resolve();
    answer = (exchange) => {
      closed = whenClosed(exchange.socket, 0);
      controller.abort();
    };

    expect(await failureOf(check(ruleWith(), controller.signal))).to.have.property(
      'code',
      'cancelled',
    );
    await closed;
  });

  it('rejects invalid options', () => {
    for (const options of [{ threshold: 2 }, { categories: [] }, { model: '' }, { timeout: 0 }])
      expect(() => ruleWith(options)).to.throw(InvalidArgumentError, /^openAIModerationRule: /);
  });

  describe('without a key', () => {
    withoutVariable('OPENAI_API_KEY');

    it('is not made', () => {
      expect(() => openAIModerationRule()).to.throw(InvalidArgumentError, 'give apiKey');
    });
  });
});
