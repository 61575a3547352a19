import { connect } from 'node:net';
import { expect } from 'chai';
import OpenAI from 'openai';
import { z } from 'zod';
import { ChatClient, defineTool, type ChatModel, type ChatResponse } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';
import { OfflineChatModel, serveOffline, type OfflineServer } from '../../src/testing/index.js';

const QUESTION =
  'Find a flight from Berlin to Lisbon and a hotel in Lisbon for 3 nights. What does the trip cost in total?';
const TOOL: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Current weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const WEATHER = 'What is the weather in Oslo?';

const tools = [
  defineTool({
    name: 'find_flight',
    description: 'Finds the cheapest flight from one city to another.',
    input: z.object({ from: z.string(), to: z.string() }),
    execute: () => ({ price: 180 }),
  }),
  defineTool({
    name: 'find_hotel',
    description: 'Finds a hotel in a city.',
    input: z.object({ city: z.string(), nights: z.number().int() }),
    execute: ({ nights }) => ({ price: 90 * nights }),
  }),
  defineTool({
    name: 'trip_cost',
    description: 'Adds up what a trip costs in total.',
    input: z.object({ flight_price: z.number(), hotel_price: z.number() }),
    execute: (args) => ({ total: args.flight_price + args.hotel_price }),
  }),
];

function ask(model: ChatModel, mode: 'call' | 'stream'): Promise<ChatResponse> {
  const spec = ChatClient.create(model).prompt(QUESTION).tools(tools);
  if (mode === 'call') return spec.call().chatResponse();
  return new Promise(
    (resolve, reject) =>
      void spec.stream().chatResponse().subscribe({ next: resolve, error: reject }),
  );
}

describe('serveOffline', () => {
  let server: OfflineServer;
  let client: OpenAI;

  beforeEach(async () => {
    server = await serveOffline();
    client = new OpenAI({ apiKey: 'test', baseURL: server.baseURL, maxRetries: 0 });
  });

  afterEach(() => server.close());

  it('listens on the loopback address, on a free port', async () => {
    const other = await serveOffline();

    expect(server.baseURL).to.equal(`http://127.0.0.1:${server.port}/v1`);
    expect(other.port).not.to.equal(server.port);
    await other.close();
  });

  it('fails on a port that is in use', async () => {
    const failure = await serveOffline({ port: server.port }).catch((error: unknown) => error);

    expect(failure).to.have.property('code', 'EADDRINUSE');
  });

  it('lists its model', async () => {
    const models = await client.models.list();

    expect(models.data.map((model) => model.id)).to.deep.equal(['offline']);
  });

  it('answers the openai client with tool calls', async () => {
    const completion = await client.chat.completions.create({
      model: 'any',
      messages: [{ role: 'user', content: WEATHER }],
      tools: [TOOL],
    });

    expect(completion.model).to.equal('any');
    expect(completion.choices[0]?.finish_reason).to.equal('tool_calls');
    expect(completion.choices[0]?.message).to.deep.include({ role: 'assistant', content: null });
    expect(completion.choices[0]?.message.tool_calls).to.deep.equal([
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
      },
    ]);
    expect(completion.usage?.total_tokens).to.be.greaterThan(0);
  });

  it('streams the same answer to the openai client', async () => {
    const request = {
      model: 'any',
      messages: [{ role: 'user' as const, content: WEATHER }],
      tools: [TOOL],
    };

    const streamed = await client.chat.completions
      .stream({ ...request, stream_options: { include_usage: true } })
      .finalChatCompletion();

    const whole = await client.chat.completions.create(request);
    expect(streamed.choices[0]?.finish_reason).to.equal('tool_calls');
    expect(streamed.choices[0]?.message.tool_calls).to.deep.include.members(
      whole.choices[0]?.message.tool_calls ?? [],
    );
    expect(streamed.usage).to.deep.equal(whole.usage);
  });

  it('streams server-sent events in the form of real servers', async () => {
    const body = {
      model: 'any',
      messages: [{ role: 'user', content: 'What is the weather in Oslo?' }],
      tools: [TOOL],
      stream: true,
    };

    const response = await post(body);
    const events = (await response.text()).trimEnd().split('\n\n');

    const data = events.map((event) => event.replace(/^data: /, ''));
    const deltas = data
      .slice(0, -1)
      .map((json) => (JSON.parse(json) as OpenAI.ChatCompletionChunk).choices[0]);
    expect(response.headers.get('content-type')).to.contain('text/event-stream');
    expect(events.every((event) => event.startsWith('data: '))).to.equal(true);
    expect(data.at(-1)).to.equal('[DONE]');
    expect(deltas[0]?.delta).to.deep.equal({ role: 'assistant', content: '' });
    expect(deltas[1]?.delta.tool_calls).to.deep.equal([
      {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: 'get_weather', arguments: '' },
      },
    ]);
    expect(deltas[2]?.delta.tool_calls).to.deep.equal([
      { index: 0, function: { arguments: '{"city":"Osl' } },
    ]);
    expect(deltas.at(-1)).to.deep.include({ delta: {}, finish_reason: 'tool_calls' });
  });

  it('streams usage on request only, in a chunk without choices', async () => {
    const body = { messages: [{ role: 'user', content: 'Hello' }], stream: true };

    const without = await (await post(body)).text();
    const asked = await (await post({ ...body, stream_options: { include_usage: true } })).text();

    expect(without).not.to.contain('usage');
    expect(asked).to.match(
      /"choices":\[\],"usage":\{"prompt_tokens":\d+,"completion_tokens":\d+,"total_tokens":\d+\}\}\n\ndata: \[DONE\]\n\n$/,
    );
  });

  it('reads a conversation with parts, tool calls and tool results', async () => {
    const completion = await client.chat.completions.create({
      model: 'any',
      tools: [TOOL],
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is the weather in Oslo?' },
            { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'x',
              type: 'function',
              function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'x', content: '{"temperature":9}' },
      ],
    });

    expect(completion.choices[0]?.message.content).to.equal('get_weather: {"temperature":9}');
    expect(completion.choices[0]?.finish_reason).to.equal('stop');
  });

  it('applies tool_choice, parallel_tool_calls and response_format', async () => {
    const request = {
      model: 'any',
      messages: [{ role: 'user' as const, content: WEATHER }],
      tools: [TOOL],
    };
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

    const none = await client.chat.completions.create({ ...request, tool_choice: 'none' });
    const forced = await client.chat.completions.create({
      ...request,
      messages: [{ role: 'user', content: 'Hello Oslo' }],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
    });
    const serial = await client.chat.completions.create({ ...request, parallel_tool_calls: false });
    const json = await client.chat.completions.create({
      ...request,
      tools: [],
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
    });

    expect(none.choices[0]?.message.tool_calls).to.equal(undefined);
    expect(forced.choices[0]?.message.tool_calls).to.have.length(1);
    expect(serial.choices[0]?.message.tool_calls).to.have.length(1);
    expect(json.choices[0]?.message.content).to.equal('{"city":"Oslo"}');
  });

  for (const mode of ['call', 'stream'] as const) {
    it(`answers a ${mode} of OpenAIChatModel like OfflineChatModel`, async () => {
      const remote = await ask(
        new OpenAIChatModel({ model: 'offline', apiKey: 'test', baseURL: server.baseURL }),
        mode,
      );

      const local = await ask(new OfflineChatModel(), mode);
      expect(remote.text).to.equal(local.text).and.to.contain('{"total":450}');
      expect(remote.usage).to.deep.equal(local.usage);
      expect(remote.message.toolCalls).to.deep.equal(local.message.toolCalls);
      expect(server.requests).to.have.length(3);
    });
  }

  it('records its requests', async () => {
    const body = { messages: [{ role: 'user', content: 'Hello' }] };

    await (await post(body)).text();

    expect(server.requests).to.deep.equal([{ method: 'POST', path: '/v1/chat/completions', body }]);
  });

  const invalidRequests: readonly (readonly [what: string, body: string, message: string])[] = [
    ['a body that is not JSON', '{"messages":', 'the body must be a JSON object'],
    ['a body that is no object', '[]', 'the body must be a JSON object'],
    ['a body without messages', '{"model":"offline"}', 'messages is required: a non-empty array'],
    ['an unknown role', '{"messages":[{"role":"king","content":"Hello"}]}', 'unknown role "king"'],
    [
      'a tool without a name',
      '{"messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{}}]}',
      'each needs function.name',
    ],
    [
      'an unknown tool choice',
      '{"messages":[{"role":"user","content":"Hi"}],"tool_choice":"perhaps"}',
      'toolChoice must be',
    ],
  ];

  for (const [what, body, message] of invalidRequests) {
    it(`rejects ${what} with 400 and the reason`, async () => {
      const response = await fetch(`${server.baseURL}/chat/completions`, { method: 'POST', body });

      const { error } = (await response.json()) as { error: Record<string, unknown> };
      expect(response.status).to.equal(400);
      expect(error).to.include({ type: 'invalid_request_error', param: null });
      expect(error['message']).to.contain(message);
    });
  }

  it('answers an unknown request with 404', async () => {
    const response = await fetch(`${server.baseURL}/embeddings`, { method: 'POST', body: '{}' });

    expect(response.status).to.equal(404);
    expect(await response.json()).to.have.nested.property(
      'error.message',
      'Unknown request: POST /v1/embeddings',
    );
  });

  for (const stream of [true, false]) {
    it(`stops a delayed ${stream ? 'stream' : 'answer'} when the client disconnects`, async () => {
      const slow = await serveOffline({ delay: 60_000 });
      const timers = activeTimers();
      const controller = new AbortController();
      const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], stream });

      const request = fetch(`${slow.baseURL}/chat/completions`, {
        method: 'POST',
        body,
        signal: controller.signal,
      });
      const failure = request.then((response) => response.text()).catch((error: unknown) => error);
      while (activeTimers() === timers) await new Promise((resolve) => setImmediate(resolve));
      controller.abort();

      expect(await failure).to.have.property('name', 'AbortError');
      while (activeTimers() > timers) await new Promise((resolve) => setImmediate(resolve));
      await slow.close();
    });
  }

  it('closes all connections', async () => {
    const slow = await serveOffline({ delay: 60_000 });
    const response = await fetch(`${slow.baseURL}/chat/completions`, {
      method: 'POST',
      body: '{"messages":[{"role":"user","content":"Hello"}],"stream":true}',
    });
    const failure = response.text().catch((error: unknown) => error);

    await slow.close();

    expect(await failure).to.be.instanceOf(TypeError);
    expect(await isRefused(slow.port)).to.equal(true);
  });

  function post(body: unknown): Promise<Response> {
    return fetch(`${server.baseURL}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
  }
});

/** Timers that keep the process alive. */
function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.destroy()).once('connect', () => resolve(false));
    socket.once('error', () => resolve(true));
  });
}
