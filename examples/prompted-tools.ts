// Tools, memory and tool search with a model that has no tool calling.
import {
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  KeywordToolIndex,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  PromptedToolsModel,
  textOf,
  ToolSearchAdvisor,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

// represents a small local model: it reads text and writes text, with the usual faults
const local = new ScriptedChatModel(({ messages }) => {
  const texts = messages.map((message) => textOf(message));
  const [, tool, result] =
    /"tool_results": \[\{"name": "(\w+)", "result": (.*)\}\]/s.exec(texts.at(-1) ?? '') ?? [];
  if (tool === 'archive_invoice') return `That is done: ${result}.`;
  // the second question names the month alone: the rest is in the memory
  const month = texts.flatMap((text) => /March|April/.exec(text)?.[0] ?? []).at(-1);
  if (!texts[0]?.includes('"name":"archive_invoice"'))
    return `I need a tool.\n{"tool_calls": [{"name": "toolSearchTool", "arguments": {"query": "archive invoice"}}]}`;
  if (texts.at(-1)?.startsWith('Your answer was not used'))
    return `\`\`\`json\n{"tool_calls": [{"name": "archive_invoice", "arguments": {"month": "${month}",}}]}\n\`\`\``;
  return `{"tool_calls": [{"name": "archive_invoices", "arguments": {"month": "${month}"}}]}`;
});

const tools = ['archive', 'copy', 'share'].flatMap((verb) =>
  ['invoice', 'playlist', 'recipe'].map((thing) =>
    defineTool({
      name: `${verb}_${thing}`,
      description: `Can ${verb} one ${thing} of the user.`,
      input: { type: 'object', properties: { month: { type: 'string' } }, required: ['month'] },
      execute: ({ month }) => `${verb} ${thing} of ${String(month)}`,
    }),
  ),
);

const repository = new InMemoryChatMemoryRepository();
const client = ChatClient.builder(new PromptedToolsModel({ model: local }))
  .defaultTools(tools)
  .defaultAdvisors(
    new MessageChatMemoryAdvisor({ chatMemory: new MessageWindowChatMemory({ repository }) }),
    new ToolSearchAdvisor({ toolIndex: new KeywordToolIndex(), maxResults: 1 }),
  )
  .build();

for (const question of ['Archive the invoice of March.', 'And the one of April?']) {
  console.log(`> ${question}`);
  const before = local.prompts.length;
  const events = client.prompt(question).conversation('anna-7').stream().events();
  await events.forEach((event) => {
    if (event.type === 'tool-call')
      console.log(`  calls ${event.toolName} ${event.call.arguments}`);
    if (event.type === 'tool-result' && event.result.unlocks)
      console.log(`  found ${event.result.unlocks.join(', ')}`);
    if (event.type === 'response')
      console.log(`  ${event.response.text} (${local.prompts.length - before} requests)`);
  });
}
