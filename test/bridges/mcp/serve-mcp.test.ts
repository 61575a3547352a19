import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/client';
import { createMcpHandler, type ServerContext } from '@modelcontextprotocol/server';
import { expect } from 'chai';
import {
  ChatClient,
  CONVERSATION_ID,
  defineAdvisor,
  defineTool,
  defineToolProvider,
  ToolError,
  toolResult,
} from '../../../src/index.js';
import { mcpTools, serveMcp, type ServeMcpOptions } from '../../../src/bridges/mcp/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { failureOf, linked, namesOf, resultOf, toolsOf } from '../../support/mcp.js';

type Source = Parameters<typeof serveMcp>[0];

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  output: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
  effect: 'read',
  execute: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
});

const patterned = defineTool({
  name: 'patterned',
  output: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
  execute: () => ({ text: `${'a'.repeat(40)}!` }),
});

describe('serveMcp', () => {
  let client: Client;

  /** A client of the package, connected to a server of a source. */
  async function connect(source: Source, options?: ServeMcpOptions): Promise<Client> {
    client = new Client({ name: 'test', version: '1' });
    await client.connect(linked(() => serveMcp(source, options))());
    return client;
  }

  afterEach(() => client.close());

  it('lists tools with their schemas, and their effect as annotations', async () => {
    const named = (name: string, effect?: 'idempotent' | 'write') =>
      defineTool({ name, ...(effect && { effect }), execute: () => name });
    await connect([add, [named('put', 'idempotent'), named('send', 'write')], named('plain')]);

    const { tools } = await client.listTools();

    expect(tools[0]).to.deep.equal({
      name: 'add',
      description: 'Adds two numbers.',
      inputSchema: add.definition.inputSchema,
      outputSchema: add.definition.outputSchema,
      annotations: { readOnlyHint: true },
    });
    expect(tools.map(({ annotations }) => annotations)).to.deep.equal([
      { readOnlyHint: true },
      { readOnlyHint: false, idempotentHint: true },
      { readOnlyHint: false, idempotentHint: false },
      undefined,
    ]);
  });

  it('introduces itself', async () => {
    await connect([add], { name: 'sums', version: '2.1.0', description: 'Adds.' });

    expect(client.getServerVersion()).to.deep.equal({ name: 'sums', version: '2.1.0' });
    expect(client.getInstructions()).to.equal('Adds.');
  });

  it('runs a tool, and returns its result as text and as a value', async () => {
    await connect([add]);

    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });

    expect(result.structuredContent).to.deep.equal({ sum: 3 });
    expect(result.content).to.deep.equal([{ type: 'text', text: '{"sum":3}' }]);
  });

  it('returns media', async () => {
    const draw = defineTool({
      name: 'draw',
      execute: () =>
        toolResult({
          content: [
            { type: 'text', text: 'A dot.' },
            { type: 'image', data: new Uint8Array([1, 2, 255]), mediaType: 'image/png' },
            { type: 'file', data: 'aGk=', mediaType: 'text/plain', name: 'hi.txt' },
            { type: 'image', url: 'https://example.com/a.png' },
          ],
        }),
    });
    await connect([draw]);

    expect((await client.callTool({ name: 'draw' })).content).to.deep.equal([
      { type: 'text', text: 'A dot.' },
      { type: 'image', data: 'AQL/', mimeType: 'image/png' },
      {
        type: 'resource',
        resource: { uri: 'file:///hi.txt', blob: 'aGk=', mimeType: 'text/plain' },
      },
      { type: 'resource_link', uri: 'https://example.com/a.png', name: 'image' },
    ]);
  });

  it('returns errors that the model of the client can use, and no others', async () => {
    const fail = (name: string, error: Error) =>
      defineTool({
        name,
        execute: () => {
          throw error;
        },
      });
    await connect([
      add,
      fail('known', new ToolError('The file does not exist.')),
      fail('secret', new Error('password 123')),
    ]);
    const failed = async (name: string, args = {}): Promise<string> => {
      const { isError, content } = await client.callTool({ name, arguments: args });
      expect(isError).to.equal(true);
      return JSON.stringify(content);
    };

    expect(await failed('known')).to.include('The file does not exist.');
    expect(await failed('secret')).to.not.include('123');
    expect(await failed('add', { a: 'x', b: 1 })).to.match(/"?a"?.*number/);
    expect(await failed('none')).to.include('none');
  });

  it('sends the progress of a tool', async () => {
    const count = defineTool({
      name: 'count',
      *execute() {
        yield 'one';
        yield { two: 2 };
        return 'three';
      },
    });
    await connect([count]);
    const seen: unknown[] = [];

    await client.callTool({ name: 'count' }, { onprogress: (progress) => seen.push(progress) });

    expect(seen).to.deep.equal([
      { progress: 1, message: 'one' },
      { progress: 2, message: '{"two":2}' },
    ]);
  });

  it('cancels a tool when the client cancels its request', async () => {
    const abort = new AbortController();
    const cancelled = new Promise<unknown>((resolve) => {
      const wait = defineTool({
        name: 'wait',
        execute: (_args, { signal }) => {
          signal.addEventListener('abort', () => resolve('cancelled'));
          abort.abort();
          return new Promise(() => undefined);
        },
      });
      void connect([wait]).then(() =>
        failureOf(client.callTool({ name: 'wait' }, { signal: abort.signal })),
      );
    });

    expect(await cancelled).to.equal('cancelled');
  });

  it('asks a provider for the tools of each request, with the tool context', async () => {
    const provider = defineToolProvider({
      name: 'by user',
      tools: ({ toolContext }) => [
        defineTool({ name: `of_${String(toolContext['user'])}`, execute: () => 'fine' }),
      ],
    });
    let user = 'anna';
    await connect(provider, { toolContext: () => ({ user }) });
    expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal(['of_anna']);
    user = 'bert';

    expect((await client.callTool({ name: 'of_bert' })).content).to.deep.equal([
      { type: 'text', text: 'fine' },
    ]);
  });

  it('runs tools with the values of the request', async () => {
    const whoami = defineTool({
      name: 'whoami',
      execute: (_args, { values }) => `${String(values['user'])} by ${String(values['method'])}`,
    });
    await connect([whoami], {
      toolContext: ({ mcpReq }) => ({ user: 'anna', method: mcpReq.method }),
    });

    expect((await client.callTool({ name: 'whoami' })).content).to.deep.equal([
      { type: 'text', text: 'anna by tools/call' },
    ]);
  });

  it('serves a client as one tool, with its advisors, tools and memory', async () => {
    const asked: unknown[] = [];
    const watch = defineAdvisor({
      name: 'watch',
      order: 0,
      before: (request) => {
        asked.push(request.context.get(CONVERSATION_ID));
        return request;
      },
    });
    const model = new ScriptedChatModel([
      { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] },
      'It is 3.',
    ]);
    const chat = ChatClient.builder(model).defaultTools(add).defaultAdvisors(watch).build();
    await connect(chat, {
      name: 'calculator',
      description: 'Answers questions about sums.',
      turn: (turn, { mcpReq }: ServerContext) =>
        turn.advisors((spec) => spec.param(CONVERSATION_ID, `mcp-${mcpReq.method}`)),
    });
    const seen: unknown[] = [];

    const { tools } = await client.listTools();
    const { content } = await client.callTool(
      { name: 'calculator', arguments: { message: '1 + 2?' } },
      { onprogress: ({ message }) => seen.push(message) },
    );

    expect(tools.map(({ name, description }) => [name, description])).to.deep.equal([
      ['calculator', 'Answers questions about sums.'],
    ]);
    expect(content).to.deep.equal([{ type: 'text', text: 'It is 3.' }]);
    expect(asked).to.deep.equal(['mcp-tools/call']);
    expect(seen).to.deep.equal(['Calling add']);
  });

  it('shows errors of a provider to the application alone', async () => {
    const provider = defineToolProvider({
      name: 'inventory',
      tools: () => {
        throw new Error('password 123');
      },
    });
    const server = await serveMcp(provider);
    const errors: Error[] = [];
    server.onerror = (error) => errors.push(error);
    client = new Client({ name: 'test', version: '1' });
    await client.connect(linked(() => server)());

    const listing = await failureOf(client.listTools());
    const calling = await failureOf(client.callTool({ name: 'add' }));

    expect([listing.message, calling.message].join()).to.not.include('123');
    expect(errors.map(({ message }) => message).join()).to.include('password 123');
  });

  it('rejects invalid tools and options', async () => {
    await connect([add]);

    expect((await failureOf(serveMcp([add, add]))).code).to.equal('invalid_argument');
    expect((await failureOf(serveMcp([{}] as never))).code).to.equal('invalid_argument');
    expect((await failureOf(serveMcp([add], { name: '' }))).code).to.equal('invalid_argument');
  });

  for (const protocol of ['legacy', 'auto'] as const)
    it(`is served over HTTP to mcpTools, protocol ${protocol}`, async () => {
      await connect([add]);
      const handler = createMcpHandler(() => serveMcp([add, patterned]));
      const server = createServer((request, response) => {
        void (async () => {
          const chunks: Uint8Array[] = [];
          for await (const chunk of request) chunks.push(chunk as Uint8Array);
          const answer = await handler.fetch(
            new Request(`http://${request.headers.host}${request.url}`, {
              method: request.method ?? 'POST',
              headers: request.headers as Record<string, string>,
              ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
            }),
          );
          response.writeHead(answer.status, Object.fromEntries(answer.headers));
          response.end(Buffer.from(await answer.arrayBuffer()));
        })();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const mcp = mcpTools({
        servers: { sums: { url: `http://127.0.0.1:${port}/`, protocol, trusted: true } },
      });

      const { text } = await resultOf(mcp, 'sums_add', { a: 1, b: 2 });
      // a validator that runs the pattern of the server takes hours
      const long = await resultOf(mcp, 'sums_patterned');
      const era = (await mcp.client('sums')).getProtocolEra();
      const tools = await toolsOf(mcp);
      await mcp.close();
      await handler.close();
      server.closeAllConnections();
      server.close();

      expect(text).to.equal('{"sum":3}');
      expect(namesOf(tools)).to.deep.equal(['sums_add', 'sums_patterned']);
      expect(long.text).to.include('aaa!');
      expect(tools[0]?.metadata.effect).to.equal('read');
      expect(era).to.equal(protocol === 'auto' ? 'modern' : 'legacy');
    });
});
