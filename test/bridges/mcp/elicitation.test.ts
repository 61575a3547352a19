import { McpServer, fromJsonSchema } from '@modelcontextprotocol/server';
import { expect } from 'chai';
import {
  ApprovalAdvisor,
  ChatClient,
  InMemoryKeyValueStore,
  type ApprovalAdvisorOptions,
  type Decision,
  type PendingRequest,
} from '../../../src/index.js';
import { mcpTools, type McpTools } from '../../../src/bridges/mcp/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { resultsOf } from '../../support/approval.js';
import { linked } from '../../support/mcp.js';
import { SECRET } from '../../support/paused-turns.js';

const requestedSchema = {
  type: 'object' as const,
  properties: { size: { type: 'string' as const, enum: ['S', 'M'] } },
  required: ['size'],
};

/** A server whose tool asks for a size, and records what it gets. */
function shop(orders: string[]): () => McpServer {
  return () => {
    const server = new McpServer({ name: 'shop', version: '1' });
    const inputSchema = fromJsonSchema({
      type: 'object',
      properties: { item: { type: 'string' } },
    });
    server.registerTool('order', { inputSchema }, async (args) => {
      const { item } = args as { item: string };
      const message = `Which size of ${item}?`;
      const { action, content } = await server.server.elicitInput({ message, requestedSchema });
      const text = `${item} ${action} ${JSON.stringify(content?.['size'] ?? null)}`;
      orders.push(text);
      return { content: [{ type: 'text', text }] };
    });
    return server;
  };
}

const orderCall = (id: string, item: string) => ({ id, name: 's_order', arguments: { item } });

describe('a question of an MCP server during a call', () => {
  const opened: McpTools[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((mcp) => mcp.close()));
  });

  function turn(orders: string[], options: ApprovalAdvisorOptions, items = ['shirt']) {
    const mcp = mcpTools({
      servers: { s: { transport: linked(shop(orders)), onElicitation: 'ask' } },
    });
    opened.push(mcp);
    const calls = items.map((item, at) => orderCall(`c${at}`, item));
    const model = new ScriptedChatModel([{ toolCalls: calls }, 'Ordered.']);
    const client = ChatClient.builder(model)
      .defaultTools(mcp)
      .defaultAdvisors(new ApprovalAdvisor({ policy: { '*': 'allow' }, ...options }))
      .build();
    return { client, model };
  }

  it('reaches the person, with the name of the server and its schema', async () => {
    const [orders, asked]: [string[], PendingRequest[]] = [[], []];
    const { client, model } = turn(orders, {
      decide: (request) => {
        asked.push(request);
        return { type: 'answer', value: { size: 'M' } };
      },
    });

    await client.prompt('?').call().content();

    expect(asked[0]).to.deep.include({
      type: 'question',
      toolName: 's_order',
      callId: 'c0',
      prompt: 'The server "s" asks: Which size of shirt?',
    });
    expect(resultsOf(model)).to.deep.equal(['shirt accept "M"']);
  });

  it('is asked again if the answer does not fit its schema', async () => {
    const orders: string[] = [];
    const { client } = turn(orders, {
      decide: ({ problem }) => ({ type: 'answer', value: { size: problem ? 'S' : 'XXL' } }),
    });

    await client.prompt('?').call().content();

    expect(orders).to.deep.equal(['shirt accept "S"']);
  });

  it('is declined if the person refuses', async () => {
    const orders: string[] = [];
    const { client } = turn(orders, { decide: () => ({ type: 'cancel' }) });

    await client.prompt('?').call().content();

    expect(orders).to.deep.equal(['shirt decline null']);
  });

  it('belongs to its call, also if several run', async () => {
    const orders: string[] = [];
    const { client } = turn(
      orders,
      {
        decide: (request): Decision => ({
          type: 'answer',
          value: { size: request.callId === 'c0' ? 'S' : 'M' },
        }),
      },
      ['shirt', 'coat'],
    );

    await client.prompt('?').call().content();

    expect(orders).to.deep.equal(['shirt accept "S"', 'coat accept "M"']);
  });

  it('pauses the turn, and the server gets the answer when the turn is resumed', async () => {
    const orders: string[] = [];
    const pause = { secrets: SECRET, store: new InMemoryKeyValueStore() };
    const { client } = turn(orders, { pause });

    const { paused } = await client.prompt('?').call().chatResponse();
    const [request] = paused?.requests ?? [];
    const answer = { type: 'answer', value: { size: 'M' } } as const;
    const decisions = { [request?.id ?? '']: answer };
    const text = await client
      .resume(paused?.state ?? '', decisions)
      .call()
      .content();

    expect(request).to.include({ type: 'question', toolName: 's_order' });
    expect([text, orders.at(-1)]).to.deep.equal(['Ordered.', 'shirt accept "M"']);
  });

  it('[N11] annotations of a trusted server decide: a tool that only reads is not asked for', async () => {
    const asked: string[] = [];
    const make = (): McpServer => {
      const server = new McpServer({ name: 'docs', version: '1' });
      const config = { inputSchema: fromJsonSchema({ type: 'object' }) };
      const run = () => ({ content: [{ type: 'text' as const, text: 'done' }] });
      server.registerTool('look', { ...config, annotations: { readOnlyHint: true } }, run);
      server.registerTool('wipe', { ...config, annotations: { destructiveHint: true } }, run);
      server.registerTool('plain', config, run);
      return server;
    };
    const mcp = mcpTools({ servers: { s: { transport: linked(make), trusted: true } } });
    opened.push(mcp);
    const toolCalls = ['look', 'wipe', 'plain'].map((name) => ({ name: `s_${name}` }));
    const decide = ({ toolName }: PendingRequest): Decision => {
      asked.push(toolName);
      return { type: 'allow' };
    };
    const client = ChatClient.builder(new ScriptedChatModel([{ toolCalls }, 'Done.']))
      .defaultTools(mcp)
      .defaultAdvisors(new ApprovalAdvisor({ decide }))
      .build();

    await client.prompt('?').call().content();

    expect(asked).to.deep.equal(['s_wipe', 's_plain']);
  });
});
