// MCP: tools of a server in a turn, and the tools of an application as a server. Both are in this process here.
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { ChatClient, defineTool, textOf } from '../src/index.js';
import { mcpTools, serveMcp } from '../src/bridges/mcp/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const stock = defineTool({
  name: 'stock',
  description: 'Number of items in the warehouse.',
  input: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  effect: 'read',
  async *execute({ item }) {
    yield `counting every ${String(item)}`;
    return `${String(item)}: 7`;
  },
});

const model = new ScriptedChatModel([
  { toolCalls: [{ name: 'warehouse_stock', arguments: { item: 'lamp' } }] },
  'There are seven lamps.',
]);

await using mcp = mcpTools({
  servers: {
    // in an application: command: 'npx', args: […], or url: 'https://…'
    warehouse: {
      transport: () => {
        const [client, server] = InMemoryTransport.createLinkedPair();
        void serveMcp([stock]).then((served) => served.connect(server));
        return client;
      },
    },
    closed: { command: 'no-such-program', onFailure: 'omit' },
  },
  onProblem: ({ server }) => console.log(`left out: ${server}`),
});

const stream = ChatClient.create(model).prompt('How many lamps are there?').tools(mcp).stream();
for await (const event of stream.events()) {
  if (event.type === 'tool-progress') console.log(`progress: ${JSON.stringify(event.data)}`);
  if (event.type === 'tool-result') console.log(`result: ${textOf(event.result.content)}`);
  if (event.type === 'response') console.log(`answer: ${event.response.text}`);
}

const [tool] = model.prompts[0]?.options.tools ?? [];
console.log(`offered: ${tool?.definition.name}, ${tool?.definition.description}`);
