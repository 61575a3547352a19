import { expect } from 'chai';
import OpenAI from 'openai';
import { InvalidArgumentError, Prompt, type Message } from '../../../src/index.js';
import { OpenAIChatModel, type OpenAIChatModelOptions } from '../../../src/models/openai/index.js';
import { jsonList, type Json } from '../../support/cassettes.js';
import { streamFrom } from '../../support/wire-answers.js';
import { completion, sendJson, sendText, WireServer } from '../../support/wire-server.js';

const MESSAGES: readonly Message[] = [
  { role: 'user', content: 'hi' },
  {
    role: 'assistant',
    content: null,
    toolCalls: [
      { id: 'call_1', name: 'now', arguments: '{}' },
      { id: 'D681PevKs', name: 'now', arguments: '{}' },
    ],
  },
  { role: 'tool', toolCallId: 'call_1', toolName: 'now', content: 'noon' },
  { role: 'tool', toolCallId: 'D681PevKs', toolName: 'now', content: 'noon' },
];

describe('the preset of a provider', () => {
  let server: WireServer;

  before(async () => {
    server = await WireServer.start((exchange) =>
      exchange.body['stream'] ? sendText(exchange, 'Hi') : sendJson(exchange, completion('Hi')),
    );
  });
  after(() => server.close());

  const modelWith = (options: OpenAIChatModelOptions): OpenAIChatModel =>
    new OpenAIChatModel({ model: 'm', baseURL: server.baseURL, maxRetries: 0, ...options });
  const sent = (): Json => server.exchanges.at(-1)?.body ?? {};
  /** Ids of calls, then of results, in a request. */
  const ids = (): readonly unknown[] =>
    jsonList(sent()['messages']).flatMap(({ tool_calls: calls, tool_call_id: result }) =>
      result === undefined ? jsonList(calls).map(({ id }) => id) : [result],
    );

  it('gives calls and results ids that Mistral takes, and keeps its own', async () => {
    await modelWith({ provider: 'mistral' }).call(new Prompt(MESSAGES));

    const [other, own, ...results] = ids();
    expect(other).to.match(/^[a-z0-9]{9}$/);
    expect(own).to.equal('D681PevKs');
    expect(results).to.deep.equal([other, own]);
  });

  it('does so through a ready client, too', async () => {
    const client = new OpenAI({ apiKey: 'k', baseURL: server.baseURL });
    await new OpenAIChatModel({ client, provider: 'mistral' }).call(new Prompt(MESSAGES));

    expect(ids()[0]).to.match(/^[a-z0-9]{9}$/);
  });

  it('leaves ids to other servers unchanged', async () => {
    await modelWith({}).call(new Prompt(MESSAGES));

    expect(ids()).to.deep.equal(['call_1', 'D681PevKs', 'call_1', 'D681PevKs']);
  });

  it('sends the fields of Mistral under its names, and extraBody wins', async () => {
    const model = modelWith({ provider: 'mistral', seed: 7, maxCompletionTokens: 9 });
    await streamFrom(model, new Prompt('hi'));
    const streamed = sent();
    await model.call(new Prompt('hi', { extraBody: { random_seed: 8 } }));

    const fields = { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 };
    expect(streamed).to.deep.equal({ ...fields, random_seed: 7, stream: true });
    expect(sent()).to.deep.equal({ ...fields, random_seed: 8 });
  });

  it('follows the host by default, unless another one is chosen', async () => {
    const redirect: typeof fetch = (input, init) =>
      fetch(String(input as string).replace('https://api.mistral.ai/v1', server.baseURL), init);
    const mistral = { baseURL: 'https://api.mistral.ai/v1', apiKey: 'k', fetch: redirect, seed: 7 };

    await modelWith(mistral).call(new Prompt('hi'));
    const byHost = sent();
    await modelWith({ ...mistral, provider: 'openai' }).call(new Prompt('hi'));

    expect(byHost).to.include({ random_seed: 7 });
    expect(sent()).to.include({ seed: 7 });
  });

  it('has a known name', () => {
    expect(() => modelWith({ provider: 'Mistral' as 'mistral' })).to.throw(
      InvalidArgumentError,
      "provider must be 'openai' or 'mistral'",
    );
  });
});
