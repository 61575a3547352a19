/** The names that the programs of the tables use, as an application has them after its imports. */
import { z } from 'zod';
import { ChatClient, defineTool, type Tool } from '../../src/index.js';
import { ScriptedChatModel, type ScriptedAnswer } from '../../src/testing/index.js';

export * from '../../src/index.js';
export { mcpTools } from '../../src/bridges/mcp/index.js';
export { SqliteChatMemoryRepository } from '../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
export { OpenAIChatModel } from '../../src/models/openai/index.js';
export { approveAll, collect, ScriptedChatModel } from '../../src/testing/index.js';
export { z } from 'zod';

export const model = new ScriptedChatModel(() => 'Hello.');
export const client = ChatClient.create(model);
export const asksInJson = ChatClient.create(new ScriptedChatModel(() => '{"name":"Rome"}'));
export const weather = defineTool({
  name: 'weather',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `${city}: 24 degrees`,
});
export const refund = defineTool({
  name: 'refund',
  effect: 'write',
  input: z.object({ order: z.number() }),
  execute: ({ order }) => `Refunded ${order}.`,
});
export const secrets = ['a secret of at least 32 characters'];

/** A model that first asks for a call of a tool, then answers. */
export const asksFor = (name: string, args: object = {}): ScriptedChatModel => {
  const call: ScriptedAnswer = { toolCalls: [{ name, arguments: { ...args } }] };
  return new ScriptedChatModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'Done.' : call,
  );
};

/** Use of a value, of which nothing is seen. */
export const print = (_value: unknown): void => undefined;

/** Output besides errors: warnings, and results of tools. */
export const shown: string[] = [];
export const show = (value: unknown): void => void shown.push(String(value));

/** Shows the result of a tool, with its error for the application. */
export async function showResult(tool: Tool): Promise<void> {
  const { name } = tool.definition;
  const turn = ChatClient.create(asksFor(name)).prompt('Go.').tools(tool);
  for await (const event of turn.stream().events())
    if (event.type === 'tool-result') {
      show(event.result.content);
      if (event.result.error) show(event.result.error);
    }
}
