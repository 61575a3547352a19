import { expect } from 'chai';
import OpenAI from 'openai';
import { z } from 'zod';
import {
  ChatClient,
  defineTool,
  IncompleteResponseError,
  InvalidArgumentError,
  ModelCallError,
  Prompt,
} from '../../../../src/index.js';
import {
  OpenAIResponsesModel,
  type OpenAIResponsesModelOptions,
} from '../../../../src/models/openai/index.js';
import { jsonList } from '../../../support/cassettes.js';
import {
  ITEMS,
  messageOf,
  responseOf,
  streamOf,
  type Event,
} from '../../../support/responses-answers.js';
import { rejectionOf, sendTypedEvents, streamFrom } from '../../../support/wire-answers.js';
import { sendJson, WireServer, type Exchange } from '../../../support/wire-server.js';

describe('OpenAIResponsesModel', () => {
  let server: WireServer;
  let answer: (exchange: Exchange) => unknown;

  before(async () => {
    server = await WireServer.start((exchange) => answer(exchange));
  });
  beforeEach(() => {
    server.exchanges.length = 0;
    answer = (exchange) => reply(exchange, [messageOf('Hello')]);
  });
  after(() => server.close());

  /** Answers with a stream if one is asked for. */
  function reply(exchange: Exchange, output: readonly unknown[]): void {
    if (exchange.body['stream']) sendTypedEvents(exchange, streamOf(responseOf(output)));
    else sendJson(exchange, responseOf(output));
  }

  const modelWith = (options: Partial<OpenAIResponsesModelOptions> = {}): OpenAIResponsesModel =>
    new OpenAIResponsesModel({
      model: 'gpt-5-mini',
      apiKey: 'sk-test',
      baseURL: server.baseURL,
      maxRetries: 0,
      ...options,
    });

  it('calls and streams', async () => {
    const called = await modelWith().call(new Prompt('hi'));
    const streamed = await streamFrom(modelWith());

    expect(called).to.include({ text: 'Hello', finishReason: 'completed', id: 'resp_1' });
    expect(streamed.response).to.deep.equal(called);
    expect(streamed.text).to.equal('Hello');
    const [first, second] = server.exchanges;
    const body = {
      model: 'gpt-5-mini',
      input: [{ type: 'message', role: 'user', content: 'hi' }],
    };
    expect(first?.body).to.deep.equal(body);
    expect(second?.body).to.deep.equal({ ...body, stream: true });
    expect(first).to.include({ path: '/v1/responses' });
    expect(first?.headers.authorization).to.equal('Bearer sk-test');
  });

  it('sends through a ready client of the openai package', async () => {
    const client = new OpenAI({ apiKey: 'sk-client', baseURL: server.baseURL });
    const model = new OpenAIResponsesModel({ client, model: 'gpt-5-mini' });

    const { text } = await model.call(new Prompt('hi'));

    expect(text).to.equal('Hello');
    expect(server.exchanges[0]).to.include({ path: '/v1/responses' });
    expect(server.exchanges[0]?.headers.authorization).to.equal('Bearer sk-client');
  });

  for (const mode of ['call', 'stream'] as const)
    it(`runs tools of a ${mode} and returns reasoning with the calls`, async () => {
      answer = (exchange) => reply(exchange, exchange.index === 0 ? ITEMS : [messageOf('12:00')]);
      server.exchanges.length = 0;
      const now = defineTool({
        name: 'now',
        input: z.object({ zone: z.string() }),
        execute: ({ zone }) => `12:00 ${zone}`,
      });
      const spec = ChatClient.create(modelWith()).prompt('What time is it?').tools(now);

      const text =
        mode === 'call' ? await spec.call().content() : (await spec.stream().finalResponse()).text;

      expect(text).to.equal('12:00');
      const input = jsonList(server.exchanges[1]?.body['input']);
      expect(input.map(({ type }) => type)).to.deep.equal([
        'message',
        'reasoning',
        'web_search_call',
        'message',
        'function_call',
        'function_call_output',
      ]);
      expect(input.at(-1)).to.deep.include({ call_id: 'call_1', output: '12:00 UTC' });
    });

  it('sends the schema of an entity', async () => {
    answer = (exchange) => reply(exchange, [messageOf('{"city":"Rome"}')]);
    const City = z.object({ city: z.string() });

    const entity = await ChatClient.create(modelWith()).prompt('Where?').call().entity(City);

    expect(entity).to.deep.equal({ city: 'Rome' });
    expect(server.exchanges[0]?.body).to.have.nested.property('text.format.type', 'json_schema');
  });

  it('describes the schema of an entity in the prompt on request', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };

    expect(modelWith().supportsSchema(schema)).to.equal(true);
    expect(modelWith({ structuredOutput: 'text' }).supportsSchema(schema)).to.equal(false);
    expect(modelWith({ baseURL: 'https://api.deepseek.com' }).supportsSchema(schema)).to.equal(
      false,
    );
  });

  const FAILED = {
    type: 'response.failed',
    response: responseOf([], {
      status: 'failed',
      error: { code: 'server_error', message: 'it broke' },
    }),
  };
  const ERROR = { type: 'error', code: 'rate_limit_exceeded', message: 'too many', param: null };
  for (const [event, message, code] of [
    [FAILED, 'it broke', 'server_error'],
    [ERROR, 'too many', 'rate_limit_exceeded'],
  ] as const)
    it(`rejects with the error of the event ${event.type}`, async () => {
      const begun = streamOf(responseOf([messageOf('Hello')])).slice(0, 5);
      answer = (exchange) => sendTypedEvents(exchange, [...begun, event as unknown as Event]);

      const error = await rejectionOf(streamFrom(modelWith()));

      expect(error).to.be.instanceOf(ModelCallError).and.include({
        providerMessage: message,
        providerCode: code,
        retryable: true,
        partialText: 'Hell',
      });
    });

  it('recognizes a request that is too long when the answer fails', async () => {
    const error = { code: 'context_length_exceeded', message: 'Your input is too long.' };
    const failed = { ...FAILED, response: responseOf([], { status: 'failed', error }) };
    answer = (exchange) => sendTypedEvents(exchange, [failed as unknown as Event]);

    const failure = await rejectionOf(streamFrom(modelWith()));

    expect(failure).to.include({ contextOverflow: true, retryable: false });
  });

  it('rejects with the error of a failed document', async () => {
    answer = (exchange) => sendJson(exchange, FAILED.response);

    const error = await rejectionOf(modelWith().call(new Prompt('hi')));

    expect(error).to.be.instanceOf(ModelCallError).and.include({ providerMessage: 'it broke' });
  });

  it('rejects with an error status and the reason of the provider', async () => {
    const error = { message: 'No tool output found', type: 'invalid_request_error', code: null };
    answer = (exchange) => sendJson(exchange, { error }, 400);

    const thrown = await rejectionOf(modelWith().call(new Prompt('hi')));

    expect(thrown)
      .to.be.instanceOf(ModelCallError)
      .and.include({ status: 400, providerMessage: 'No tool output found', retryable: false });
  });

  it('takes no stream for an answer that ends before its last event, with or without a marker', async () => {
    const events = streamOf(responseOf(ITEMS)).slice(0, -1);
    answer = (exchange) => sendTypedEvents(exchange, events);
    const cut = await rejectionOf(streamFrom(modelWith()));
    answer = (exchange) => {
      exchange.response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) exchange.response.write(`data: ${JSON.stringify(event)}\n\n`);
      exchange.response.end('data: [DONE]\n\n');
    };
    const marked = await rejectionOf(streamFrom(modelWith()));

    expect(cut).to.be.instanceOf(IncompleteResponseError);
    expect(cut).to.include({ partialText: 'Noon is near.' });
    expect(marked).to.be.instanceOf(IncompleteResponseError);
  });

  it('ignores what follows the last event', async () => {
    const events = streamOf(responseOf([messageOf('Hello')]));
    answer = (exchange) => sendTypedEvents(exchange, [...events, ...events]);

    const { text } = await streamFrom(modelWith());

    expect(text).to.equal('Hello');
  });

  it('refuses to be made without a model or with an unknown option', () => {
    expect(() => new OpenAIResponsesModel({ apiKey: 'k' })).to.throw(
      InvalidArgumentError,
      'OpenAIResponsesModel: give the name of a model',
    );
    expect(() => modelWith({ structuredOutput: 'none' as 'text' })).to.throw(
      InvalidArgumentError,
      "structuredOutput must be 'native' or 'text'",
    );
  });
});
