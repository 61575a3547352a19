// A client as a tool of another: its events in the stream of the outer turn, one ledger for both.
import { z } from 'zod';
import { agentTool, ChatClient, defineTool, textOf, type ChatEvent } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const usage = (tokens: number) => ({ inputTokens: tokens, outputTokens: 0, totalTokens: tokens });
const find = defineTool({
  name: 'find',
  input: z.object({ topic: z.string() }),
  execute: ({ topic }) => `${topic}: water (weather.example)`,
});
const cheap = new ScriptedChatModel([
  { toolCalls: [{ name: 'find', arguments: { topic: 'rain' } }], usage: usage(500) },
  { text: '{"summary":"Rain is water.","sources":["weather.example"]}', usage: usage(600) },
]);
const researcher = ChatClient.builder(cheap).defaultTools(find).build();

const research = agentTool(researcher, {
  name: 'research',
  description: 'Finds out what is known about a topic.',
  effect: 'read',
  output: z.object({ summary: z.string(), sources: z.array(z.string()) }),
});
const model = new ScriptedChatModel([
  { toolCalls: [{ name: 'research', arguments: { message: 'What is rain?' } }], usage: usage(80) },
  { text: 'Rain is water (weather.example).', usage: usage(120) },
]);

const stream = ChatClient.create(model).prompt('What is rain?').tools(research).stream();
for await (const event of stream.events()) {
  if (event.type === 'tool-progress') show(event.data as ChatEvent);
  if (event.type === 'tool-result') console.log(`result      ${textOf(event.result.content)}`);
}

function show(event: ChatEvent): void {
  if (event.type === 'iteration-start') console.log(`  sources   ${event.type} ${event.model}`);
  if (event.type === 'tool-call')
    console.log(`  sources   ${event.type} ${event.toolName}(${event.call.arguments})`);
}

const { text, ledger, usage: all } = await stream.finalResponse();
console.log(`answer      ${text}`);
console.log(`model calls ${ledger.length}, ${all?.totalTokens.toLocaleString('en-US')} tokens`);
