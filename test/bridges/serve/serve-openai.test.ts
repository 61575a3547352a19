import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import OpenAI from 'openai';
import { toNodeHandler } from '../../../src/bridges/http/index.js';
import { serveOpenAI, type ServeOpenAIOptions } from '../../../src/bridges/serve/index.js';
import { ChatClient, defineTool, ModelCallError, type ChatModel } from '../../../src/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { listen, type Handler, type StartedServer } from '../../support/http-servers.js';

const serve = (handler: Handler): Promise<StartedServer> =>
  listen(createServer((request, response) => void toNodeHandler(handler)(request, response)));

const runs: string[] = [];
const own = defineTool({
  name: 'own',
  execute: () => {
    runs.push('own');
    return 'own result';
  },
});
const weather = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
} as const;
const question = { role: 'user', content: 'Q' } as const;
const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

describe('an OpenAI endpoint', () => {
  let server: StartedServer | undefined;
  beforeEach(() => void (runs.length = 0));
  afterEach(() => server?.close());

  async function start(script: Script, options?: Partial<ServeOpenAIOptions>) {
    const model = new ScriptedChatModel(script);
    const openai = await startWith(model, options);
    return { model, openai };
  }

  async function startWith(model: ChatModel, options?: Partial<ServeOpenAIOptions>) {
    const client = ChatClient.builder(model).defaultTools(own).build();
    const { port } = (server = await serve(serveOpenAI({ clients: { chat: client }, ...options })));
    return new OpenAI({
      baseURL: `http://127.0.0.1:${port}/v1`,
      apiKey: 'sk-canary',
      maxRetries: 0,
    });
  }

  it('answers a call with text, usage and the name of the model', async () => {
    const { model, openai } = await start([{ text: 'Hello.', usage }]);

    const answer = await openai.chat.completions.create({
      model: 'chat',
      messages: [{ role: 'developer', content: 'Be brief.' }, question],
      temperature: 0.5,
      stop: 'END',
    });

    expect(answer.choices[0]).to.deep.equal({
      index: 0,
      message: { role: 'assistant', content: 'Hello.', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    });
    expect(answer.usage).to.include({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
    expect(answer).to.include({ object: 'chat.completion', model: 'chat' });
    expect(model.prompts[0]?.messages).to.deep.equal([
      { role: 'system', content: 'Be brief.' },
      question,
    ]);
    expect(model.prompts[0]?.options).to.include({ temperature: 0.5 });
    expect(model.prompts[0]?.options.stopSequences).to.deep.equal(['END']);
  });

  it('streams chunks, with usage if it is asked for', async () => {
    const { openai } = await start([{ text: 'Hello there.', usage }]);

    const stream = openai.chat.completions.stream({
      model: 'chat',
      messages: [question],
      stream_options: { include_usage: true },
    });
    const answer = await stream.finalChatCompletion();

    expect(answer.choices[0]?.message.content).to.equal('Hello there.');
    expect(answer.choices[0]?.finish_reason).to.equal('stop');
    expect(answer.usage).to.include({ total_tokens: 5 });
  });

  it('streams the reasoning of each iteration as it comes, before its text', async () => {
    const { openai } = await start([
      { reasoning: 'Why not.', text: 'One moment.', toolCalls: [{ name: 'own', arguments: '{}' }] },
      { reasoning: 'So it is.', text: 'Done.' },
    ]);

    const written: string[] = [];
    const ask = { model: 'chat', messages: [question], stream: true as const };
    for await (const { choices } of await openai.chat.completions.create(ask)) {
      const delta: { content?: string | null; reasoning_content?: string } =
        choices[0]?.delta ?? {};
      const [kind, text] = delta.content
        ? ['text', delta.content]
        : ['reasoning', delta.reasoning_content ?? ''];
      if (text === '') continue;
      if (written.at(-2) === kind) written.push(`${written.pop()}${text}`);
      else written.push(kind, text);
    }

    expect(written).to.deep.equal([
      'reasoning',
      'Why not.',
      'text',
      'One moment.',
      'reasoning',
      '\n\nSo it is.',
      'text',
      '\n\nDone.',
    ]);
  });

  for (const isStream of [false, true])
    it(`ends ${isStream ? 'a stream' : 'a call'} at parallel calls of tools of the caller, after tools of the chain`, async () => {
      const { model, openai } = await start([
        { toolCalls: [{ name: 'own', arguments: '{}' }], usage },
        {
          text: 'One moment.',
          toolCalls: [
            { id: 'call_a1b2c3d4e', name: 'weather', arguments: '{"city":"Rome"}' },
            { id: 'call_f5g6h7i8j', name: 'weather', arguments: '{"city":"Oslo"}' },
          ],
          usage,
        },
        { text: 'Rome is warmer.' },
      ]);
      const ask = { model: 'chat', messages: [question], tools: [weather] };

      const answer = isStream
        ? await openai.chat.completions
            .stream({ ...ask, stream_options: { include_usage: true } })
            .finalChatCompletion()
        : await openai.chat.completions.create(ask);

      const [choice] = answer.choices;
      expect(choice?.finish_reason).to.equal('tool_calls');
      expect(choice?.message.content).to.include('One moment.');
      const calls = choice?.message.tool_calls ?? [];
      expect(
        calls.map((call) => call.type === 'function' && call.function.arguments),
      ).to.deep.equal(['{"city":"Rome"}', '{"city":"Oslo"}']);
      expect(answer.usage).to.include({ total_tokens: 10 });
      expect(runs).to.deep.equal(['own']);

      const results = calls.map((call) => ({
        role: 'tool' as const,
        tool_call_id: call.id,
        content: '20',
      }));
      const next = await openai.chat.completions.create({
        ...ask,
        messages: [question, { role: 'assistant', content: null, tool_calls: calls }, ...results],
      });
      expect(next.choices[0]?.message.content).to.equal('Rome is warmer.');
      expect(model.prompts[2]?.messages.map(({ role }) => role)).to.deep.equal([
        'user',
        'assistant',
        'tool',
        'tool',
      ]);
      expect(model.prompts[2]?.messages[2]).to.include({ toolName: 'weather' });
    });

  it('runs no tool of the chain in an answer that calls a tool of the caller', async () => {
    const { openai } = await start([
      {
        toolCalls: [
          { name: 'own', arguments: '{}' },
          { name: 'weather', arguments: '{}' },
        ],
      },
    ]);

    const answer = await openai.chat.completions.create({
      model: 'chat',
      messages: [question],
      tools: [weather],
    });

    const names = answer.choices[0]?.message.tool_calls?.map(
      (call) => call.type === 'function' && call.function.name,
    );
    expect(names).to.deep.equal(['weather']);
    expect(runs).to.deep.equal([]);
  });

  it('passes a JSON schema to the model', async () => {
    const { model, openai } = await start([{ text: '{"n":1}' }]);
    const schema = { type: 'object', properties: { n: { type: 'integer' } } };

    await openai.chat.completions.create({
      model: 'chat',
      messages: [question],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'number', schema, strict: true },
      },
    });

    expect(model.prompts[0]?.options.responseFormat).to.deep.equal({
      schema,
      name: 'number',
      strict: true,
    });
  });

  it('lists its models', async () => {
    const { openai } = await start([]);

    const { data } = await openai.models.list();
    expect(data.map(({ id }) => id)).to.deep.equal(['chat']);
    expect((await openai.models.retrieve('chat')).id).to.equal('chat');
  });

  it('names the endpoint that clients of the Responses API have to use', async () => {
    const { openai } = await start([]);

    const error: unknown = await openai.responses
      .create({ model: 'chat', input: 'Q' })
      .catch((e: unknown) => e);

    expect(error).to.include({ status: 404, code: 'not_found' });
    expect((error as Error).message).to.include('Use /v1/chat/completions.');
  });

  it("answers errors in OpenAI's form, without what is inside", async () => {
    const failure = new ModelCallError('canary', { status: 429, retryAfter: 2_000 });
    const { openai } = await start(() => {
      throw failure;
    });
    const ask = { model: 'chat', messages: [question] };

    const limited = await errorOf(openai.chat.completions.create(ask));
    expect(limited).to.be.instanceOf(OpenAI.RateLimitError);
    expect(limited).to.include({ status: 429, code: 'model_call', type: 'rate_limit_error' });
    expect(limited.headers?.get('retry-after')).to.equal('2');
    expect(limited.message).to.not.include('canary');

    const unknown = await errorOf(openai.chat.completions.create({ ...ask, model: 'other' }));
    expect(unknown).to.be.instanceOf(OpenAI.NotFoundError).and.include({ code: 'model_not_found' });
    expect(unknown.headers?.get('x-should-retry')).to.equal('false');
    const bad = await errorOf(openai.chat.completions.create({ ...ask, temperature: 9 }));
    expect(bad).to.be.instanceOf(OpenAI.BadRequestError);
    expect(bad.message).to.include('temperature: it must be a number from 0 to 2');
  });

  it('refuses a tool with the name of one of the chain', async () => {
    const { openai } = await start([]);
    const tools = [{ ...weather, function: { name: 'own' } }];

    const error = await errorOf(
      openai.chat.completions.create({ model: 'chat', messages: [question], tools }),
    );

    expect(error).to.include({ status: 400 });
  });

  it('ends a stream that fails with an error', async () => {
    const failing: ChatModel = {
      call: () => Promise.reject(new Error('canary')),
      stream: () =>
        (async function* () {
          yield { type: 'text-delta', text: 'Half' };
          await Promise.resolve();
          throw new ModelCallError('canary', { status: 500 });
        })() as never,
    } as never;
    const openai = await startWith(failing);

    const stream = openai.chat.completions.stream({ model: 'chat', messages: [question] });
    const error = await errorOf(stream.finalChatCompletion());

    expect(JSON.stringify(error) + error.message).to.not.include('canary');
  });

  it('gives the caller of a key to the application, and refuses other keys', async () => {
    const callers: unknown[] = [];
    const { openai } = await start([{ text: 'Hi.' }], {
      authorize: (key) => key === 'sk-canary' && 'ada',
      prepare: (turn, { caller, model }) => {
        callers.push(caller, model);
        return turn.options({ maxTokens: 7 });
      },
    });

    await openai.chat.completions.create({ model: 'chat', messages: [question] });
    expect(callers).to.deep.equal(['ada', 'chat']);
    const other = new OpenAI({ baseURL: openai.baseURL, apiKey: 'sk-other', maxRetries: 0 });
    const error = await errorOf(other.models.list());
    expect(error).to.be.instanceOf(OpenAI.AuthenticationError);
    expect(error.message).to.not.include('sk-other');
  });

  it('gives no access without a function for keys, unless the connection is of this computer', async () => {
    const handler = toNodeHandler(
      serveOpenAI({ clients: ChatClient.create(new ScriptedChatModel([])) }),
    );
    const incoming = createServer((request, response) => {
      const { 'test-peer': address } = request.headers;
      if (address !== undefined)
        Object.defineProperty(request.socket, 'remoteAddress', { value: address });
      void handler(request, response);
    });
    await once(incoming.listen(0, '127.0.0.1'), 'listening');
    const { port } = incoming.address() as AddressInfo;
    const statusOf = async (headers: Record<string, string>): Promise<number | undefined> => {
      const sent = get({ port, host: '127.0.0.1', path: '/v1/models', headers, agent: false });
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    try {
      for (const host of ['localhost', '127.0.0.1:80', '127.9.9.9', '[::1]:8080', 'app.localhost'])
        expect(await statusOf({ host }), host).to.equal(200);
      for (const host of ['example.com', 'localhost.example.com', '127.0.0.1.nip.io', '10.0.0.1'])
        expect(await statusOf({ host }), host).to.equal(403);
      const host = 'localhost';
      for (const address of ['::1', '::ffff:127.0.0.1'])
        expect(await statusOf({ host, 'test-peer': address }), address).to.equal(200);
      for (const address of ['10.0.0.2', '::ffff:10.0.0.2', 'fe80::1', '127.0.0.1.evil'])
        expect(await statusOf({ host, 'test-peer': address }), address).to.equal(403);
      for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])
        expect(await statusOf({ host, [name]: '127.0.0.1' }), name).to.equal(403);
      expect(await statusOf({ host, origin: 'https://evil.example' })).to.equal(403);
      expect(await statusOf({ host, origin: 'null' })).to.equal(403);
      expect(await statusOf({ host, 'sec-fetch-site': 'cross-site' })).to.equal(403);
    } finally {
      incoming.close();
    }
  });

  it('gives no access without a function for keys where no connection is known', async () => {
    const answer = serveOpenAI({ clients: ChatClient.create(new ScriptedChatModel([])) });

    expect((await answer(new Request('http://localhost/v1/models'))).status).to.equal(403);
  });

  for (const isStream of [false, true])
    it(`cancels the run of a client that leaves ${isStream ? 'a stream' : 'a call'}`, async () => {
      let began = (): void => undefined;
      const begun = new Promise<void>((resolve) => (began = resolve));
      let cancelled = (): void => undefined;
      const ended = new Promise<void>((resolve) => (cancelled = resolve));
      const slow = defineTool({
        name: 'slow',
        execute: (_args, { signal }) => {
          began();
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => {
              cancelled();
              reject(signal.reason as Error);
            }),
          );
        },
      });
      const { openai } = await start(
        [{ text: 'Wait.', toolCalls: [{ name: 'slow', arguments: '{}' }] }],
        {
          prepare: (turn) => turn.tools(slow),
        },
      );
      const leaving = new AbortController();
      const ask = { model: 'chat', messages: [question], stream: isStream };

      const answer = openai.chat.completions
        .create(ask, { signal: leaving.signal })
        .then(async (result) => {
          if (Symbol.asyncIterator in result) for await (const _chunk of result);
        })
        .catch(() => undefined);
      await begun;
      leaving.abort();

      await ended;
      await answer;
    });
});

async function errorOf(work: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await work;
  } catch (error) {
    return error as InstanceType<typeof OpenAI.APIError>;
  }
  throw new Error('it did not fail');
}
