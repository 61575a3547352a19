// A turn of 40 tool calls within 4,000 tokens per request: old results are cleared, old iterations summarized, a long log is kept in a store.
import {
  ChatClient,
  CompactionAdvisor,
  defineTool,
  InMemoryKeyValueStore,
  textOf,
  ToolCallingAdvisor,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const PAGES = 40;

const readPage = defineTool({
  name: 'read_page',
  description: 'Reads a page of the report.',
  effect: 'read',
  input: {
    type: 'object',
    properties: { page: { type: 'integer' } },
    required: ['page'],
  },
  execute: ({ page }) => `Page ${String(page)}: ${'the numbers of this page. '.repeat(20)}`,
});
const readLog = defineTool({
  name: 'read_log',
  description: 'Reads the log.',
  effect: 'read',
  execute: () => Array.from({ length: 4_000 }, (_, at) => `line ${at}: fine`).join('\n'),
});

// reads a long log, searches it, then reads page after page
const model = new ScriptedChatModel((prompt, index) => {
  if (index === 0) return { toolCalls: [{ name: 'read_log' }] };
  if (index === 1) {
    const last = prompt.messages.at(-1);
    const id = /id "(\w+)"/.exec(last?.role === 'tool' ? textOf(last.content) : '')?.[1];
    return {
      toolCalls: [{ id: 'read_back', name: 'read_result', arguments: { id, search: 'line 2345' } }],
    };
  }
  const page = index - 1;
  return page > PAGES
    ? 'The report is fine.'
    : { toolCalls: [{ name: 'read_page', arguments: { page } }] };
});
const writer = new ScriptedChatModel(() => 'The log and the pages so far are fine.');

const client = ChatClient.builder(model)
  .defaultTools(readPage, readLog)
  .defaultAdvisors(
    new ToolCallingAdvisor({ maxIterations: 100 }),
    new CompactionAdvisor({
      maxTokens: 4_000,
      model: writer,
      offload: { store: new InMemoryKeyValueStore() },
    }),
  )
  .build();

for await (const event of client.prompt('Is the report fine?').stream().events()) {
  if (event.type === 'custom' && event.name === 'result-offloaded')
    console.log(`offloaded: ${event.data.length} characters of ${event.data.toolName}`);
  if (event.type === 'custom' && event.name === 'compaction') {
    const { before, after, strategies } = event.data;
    console.log(`shortened: ${before} to ${after} tokens by ${strategies.join(', ')}`);
  }
  if (event.type === 'tool-result' && event.call.id.startsWith('read_back'))
    console.log(`read back: ${textOf(event.result.content).split('\n').at(-1)}`);
  if (event.type === 'response') console.log(`answer:    ${event.response.text}`);
}

const last = model.prompts.at(-1);
console.log(`requests:  ${model.prompts.length}, the last one of ${last?.length} messages`);
