import { expect } from 'chai';
import OpenAI from 'openai';
import { InvalidArgumentError, ModelCallError, Prompt } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { everythingIn } from '../../support/everything-in.js';
import { sendJson } from '../../support/wire-server.js';
import { useWireModel } from '../../support/wire-model.js';

const COMPLETION = {
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
};
const PROMPT = new Prompt('hi');

describe('connection of a model', () => {
  const wire = useWireModel();

  it('sends the given headers, which replace its own in any case', async () => {
    wire.answer = (exchange) => sendJson(exchange, COMPLETION);
    const headers = { 'X-Tenant': 'a', Authorization: 'Token t' };

    await wire.modelWith({ headers }).call(PROMPT);

    const [exchange] = wire.server.exchanges;
    expect(exchange?.headers).to.include({ 'x-tenant': 'a', authorization: 'Token t' });
  });

  it('sends through the given fetch, which gets no redirect to follow', async () => {
    wire.answer = (exchange) => sendJson(exchange, COMPLETION);
    const seen: unknown[] = [];
    const model = wire.modelWith({
      fetch: (address, options) => {
        seen.push([address, options?.redirect]);
        return fetch(address, options);
      },
    });

    const { text } = await model.call(PROMPT);

    expect(text).to.equal('Hi');
    expect(seen).to.deep.equal([[`${wire.server.baseURL}/chat/completions`, 'manual']]);
  });

  it('asks a token function for each attempt', async () => {
    wire.answer = (exchange) =>
      exchange.index === 0
        ? sendJson(exchange, {}, 503, { 'retry-after-ms': '0' })
        : sendJson(exchange, COMPLETION);
    let count = 0;
    const model = wire.modelWith({ apiKey: async () => `token-${++count}`, maxRetries: 1 });

    await model.call(PROMPT);

    const sent = wire.server.exchanges.map(({ headers }) => headers.authorization);
    expect(sent).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
  });

  it('shows no token that a function returned, the latest or an earlier one', async () => {
    let count = 0;
    const model = wire.modelWith({
      apiKey: () => `canary-token-${++count}`,
      maxRetries: 0,
    });
    wire.answer = (exchange) =>
      sendJson(exchange, { error: { message: 'no canary-token-1 nor canary-token-2' } }, 401);
    await model.call(PROMPT).catch(() => undefined);

    const error: unknown = await model.call(PROMPT).catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(ModelCallError);
    expect(everythingIn(error)).to.include('no *** nor ***');
    expect(everythingIn(error)).to.not.include('canary-token');
  });

  it('fails with the error of a token function', async () => {
    const model = wire.modelWith({
      apiKey: () => Promise.reject(new Error('signed out')),
      maxRetries: 0,
    });

    const error: unknown = await model.call(PROMPT).catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(ModelCallError);
    expect((error as Error).message).to.include('signed out');
    expect(wire.server.exchanges).to.deep.equal([]);
  });

  it('does not wait for a token function beyond the time limit', async () => {
    const model = wire.modelWith({
      apiKey: () => new Promise<string>(() => undefined),
      timeout: 20,
      maxRetries: 0,
    });

    const error: unknown = await model.call(PROMPT).catch((thrown: unknown) => thrown);

    expect((error as ModelCallError).code).to.equal('model_timeout');
  });

  it('refuses a token that is not a text', async () => {
    const model = wire.modelWith({ apiKey: () => '', maxRetries: 0 });

    const error: unknown = await model.call(PROMPT).catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect((error as Error).message).to.include('the result of apiKey');
  });

  const INVALID = {
    'a key that no header can have': { apiKey: 'secret\nkey' },
    'a header value with a line break': { headers: { 'x-a': 'secret\nkey' } },
    'a header name with a blank': { headers: { 'x a': 'secret' } },
    'headers that are no object': { headers: 'secret' as unknown as Record<string, string> },
    'a fetch that is no function': { fetch: 1 as unknown as typeof fetch },
    'an address without a protocol': { baseURL: 'localhost' },
  };
  for (const [title, options] of Object.entries(INVALID))
    it(`refuses ${title}, without showing it`, () => {
      const make = (): unknown => wire.modelWith(options);

      expect(make)
        .to.throw(InvalidArgumentError)
        .and.satisfy((error: Error) => !error.message.includes('secret\n'));
    });

  for (const option of [{ headers: { a: 'b' } }, { fetch: globalThis.fetch }])
    it(`refuses ${Object.keys(option).join()} beside a ready client`, () => {
      const client = new OpenAI({ apiKey: 'k', baseURL: wire.server.baseURL });

      const make = (): unknown => new OpenAIChatModel({ model: 'm', client, ...option });

      expect(make).to.throw(
        InvalidArgumentError,
        `give ${Object.keys(option).join()} to the client`,
      );
    });
});
