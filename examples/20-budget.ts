// A turn within its budget, which asks to continue, and what breaks the prompt cache, with its
// price.
import {
  AdvisorOrder,
  BudgetAdvisor,
  ChatClient,
  defineAdvisor,
  defineTool,
  priceTable,
  PromptCacheAdvisor,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const usage = (cachedInputTokens: number) => ({
  inputTokens: 20_000,
  outputTokens: 100,
  totalTokens: 20_100,
  cachedInputTokens,
});

// searches until it is offered no tools
const model = new ScriptedChatModel(({ options }, index) =>
  options.tools?.length
    ? { toolCalls: [{ name: 'search', arguments: { page: index } }], usage: usage(0) }
    : { text: 'Here is what I have found on 5 pages.', usage: usage(0) },
);
const search = defineTool({
  name: 'search',
  effect: 'read',
  execute: (args) => `page ${JSON.stringify(args)}`,
});

// the time at the start of the system text: nothing after it is read from the cache
let seconds = 0;
const clock = defineAdvisor({
  name: 'clock',
  order: AdvisorOrder.LOGGER,
  before: (request) =>
    request.withPrompt(
      request.prompt.augmentSystemMessage((text) => `It is 15:09:${10 + seconds++}.\n${text}`),
    ),
});

let asked = 0;
const budget = new BudgetAdvisor({
  maxCost: 0.1,
  price: priceTable({ scripted: { input: 1.25, cachedInput: 0.125, output: 10 } }),
  onLimit: 'ask',
  ask: ({ spent }) => {
    console.log(`ask:     ${spent.toFixed(3)} is spent, continue?`);
    return asked++ === 0 ? 0.05 : undefined; // once, then an answer without tools
  },
});

const client = ChatClient.builder(model)
  .defaultSystem('You answer with sources. '.repeat(400))
  .defaultTools(search)
  .defaultAdvisors(budget, new PromptCacheAdvisor(), clock)
  .build();

for await (const event of client.prompt('What is new?').stream().events()) {
  if (event.type === 'custom' && event.name === 'budget-warning')
    console.log(`warning: ${event.data.spent.toFixed(3)} of ${event.data.value.toFixed(3)}`);
  if (event.type === 'custom' && event.name === 'prompt-cache-break')
    console.log(
      `cache:   ${event.data.part} by "${event.data.advisor}", ${event.data.lostTokens} tokens read again`,
    );
  if (event.type === 'response') console.log(`answer:  ${event.response.text}`);
}
