import { Command, MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import {
  createAgent,
  humanInTheLoopMiddleware,
  summarizationMiddleware,
  tool,
  type HITLRequest,
} from 'langchain';
import { z } from 'zod';

const model = (name: string) =>
  new ChatOpenAI({
    model: name,
    apiKey: 'none',
    configuration: { baseURL: process.env['BASE_URL'] ?? 'http://127.0.0.1:8080/v1' },
  });

const findOrder = tool(({ number }) => ({ number, amount: 40 }), {
  name: 'find_order',
  description: 'Finds an order by its number.',
  schema: z.object({ number: z.string() }),
});

const refund = tool(
  ({ number, amount }) => {
    console.log(`pays ${amount} euros for order ${number}`);
    return 'The refund is on its way.';
  },
  {
    name: 'refund',
    description: 'Pays the amount of an order back.',
    schema: z.object({ number: z.string(), amount: z.number() }),
  },
);

const agent = createAgent({
  model: model('large'),
  systemPrompt: 'You help the customers of a shop.',
  tools: [findOrder, refund],
  middleware: [
    summarizationMiddleware({
      model: model('small'),
      trigger: { messages: 7 },
      keep: { messages: 3 },
    }),
    humanInTheLoopMiddleware({ interruptOn: { refund: true } }),
  ],
  checkpointer: new MemorySaver(),
});

const thread = { configurable: { thread_id: 'anna-7' } };
const ask = (content: string) => agent.invoke({ messages: [{ role: 'user', content }] }, thread);

for (const question of ['I am Anna. What did order 42 cost?', 'It arrived broken.']) {
  const { messages } = await ask(question);
  console.log(messages.at(-1)?.text);
}

const paused = await ask('Please pay it back.');
const [interrupt] = paused.__interrupt__ ?? [];
const { actionRequests } = interrupt?.value as HITLRequest;
for (const { name, args } of actionRequests) console.log('asks', name, JSON.stringify(args));

// later, in any process that has the thread
const decisions = actionRequests.map(() => ({ type: 'approve' }));
const { messages } = await agent.invoke(new Command({ resume: { decisions } }), thread);
console.log(messages.at(-1)?.text);
