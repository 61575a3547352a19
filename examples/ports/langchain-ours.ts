import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  SummarizingChatMemory,
} from 'advisor-chain';
import { OpenAIChatModel } from 'advisor-chain/openai';
import { z } from 'zod';

const model = (name: string) =>
  new OpenAIChatModel({
    model: name,
    baseURL: process.env['BASE_URL'] ?? 'http://127.0.0.1:8080/v1',
  });

const findOrder = defineTool({
  name: 'find_order',
  description: 'Finds an order by its number.',
  effect: 'read',
  input: z.object({ number: z.string() }),
  execute: ({ number }) => ({ number, amount: 40 }),
});

const refund = defineTool({
  name: 'refund',
  description: 'Pays the amount of an order back.',
  effect: 'write', // so a person is asked
  input: z.object({ number: z.string(), amount: z.number() }),
  execute: ({ number, amount }) => {
    console.log(`pays ${amount} euros for order ${number}`);
    return 'The refund is on its way.';
  },
});

const chatMemory = new SummarizingChatMemory({
  repository: new InMemoryChatMemoryRepository(),
  model: model('small'),
  maxMessages: 5,
});
const client = ChatClient.builder(model('large'))
  .defaultSystem('You help the customers of a shop.')
  .defaultTools(findOrder, refund)
  .defaultAdvisors(
    new MessageChatMemoryAdvisor({ chatMemory, storeToolMessages: true }),
    new ApprovalAdvisor({
      pause: {
        secrets: process.env['PAUSE_SECRET'] ?? 'a secret of 32 characters or more',
        store: new InMemoryKeyValueStore(),
      },
    }),
  )
  .build();

const ask = (question: string) =>
  client.prompt(question).conversation('anna-7').call().chatClientResponse();

for (const question of ['I am Anna. What did order 42 cost?', 'It arrived broken.']) {
  const { text, run } = await ask(question);
  console.log(text);
  await run?.settled; // the summary, for which an answer does not wait
}

const { paused } = await ask('Please pay it back.');
for (const request of paused?.requests ?? [])
  if (request.type === 'approval')
    console.log('asks', request.toolName, JSON.stringify(request.arguments));

// later, in any process that has the stores
for (const { id } of await client.pending('anna-7')) {
  const resumed = client.resume(id, () => ({ type: 'allow' }));
  console.log(await resumed.call().content());
}
