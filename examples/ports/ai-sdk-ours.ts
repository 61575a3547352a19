import {
  afterCalls,
  afterToolCall,
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  defineTool,
  filterTools,
  ToolCallingAdvisor,
} from 'advisor-chain';
import { OpenAIChatModel } from 'advisor-chain/openai';
import { z } from 'zod';

const model = (name: string) =>
  new OpenAIChatModel({
    model: name,
    baseURL: process.env['BASE_URL'] ?? 'http://127.0.0.1:8080/v1',
  });

const tools = [
  defineTool({
    name: 'find_order',
    description: 'Finds an order by its number.',
    input: z.object({ number: z.string() }),
    execute: ({ number }) => ({ number, amount: 40, currency: 'EUR' }),
  }),
  defineTool({
    name: 'in_dollars',
    description: 'Converts an amount into dollars.',
    input: z.object({ amount: z.number(), currency: z.string() }),
    execute: ({ amount }) => ({ dollars: amount * 1.25 }),
  }),
  defineTool({
    name: 'hand_over',
    description: 'Hands the customer over to a person.',
    input: z.object({ reason: z.string() }),
    execute: ({ reason }) => `Ticket 7: ${reason}`,
  }),
];

const small = model('small');
const client = ChatClient.builder(model('large'))
  .defaultSystem('You help the customers of a shop.')
  .defaultTools(...tools)
  .defaultStopWhen(afterCalls(4), afterToolCall('hand_over'))
  .defaultAdvisors(
    defineAdvisor({
      name: 'prepare-step',
      order: AdvisorOrder.LOGGER, // inside the loop: before each model call
      before: (request) =>
        request.steps.length === 0
          ? request
              .withTools(filterTools(request.tools, ['find_order']))
              .withOptions({ toolChoice: 'required' })
          : request.withModel(small),
    }),
    new ToolCallingAdvisor({
      onStep: ({ toolCalls, response }) =>
        console.log(`step: ${toolCalls.length} calls, ${response.usage?.totalTokens} tokens`),
    }),
  )
  .build();

const ask = (prompt: string) => client.prompt(prompt).stream({ separator: '' });

// the text as it comes, and the steps at the end
const costs = ask('What did order 42 cost in dollars?');
for await (const text of costs) console.log(`text: ${text}`);
const { steps, usage } = await costs.finalResponse();
for (const { response, toolCalls } of steps) {
  const results = toolCalls.map(({ toolName, result }) => [toolName, result?.value]);
  console.log(response.text ?? '', JSON.stringify(results));
}
console.log(usage?.totalTokens);

// all events; the call of hand_over ends the turn
const complaint = ask('Order 42 is broken!');
for await (const event of complaint.events()) {
  if (event.type === 'text-delta') console.log(`text: ${event.text}`);
  if (event.type === 'tool-call') console.log(event.toolName, JSON.stringify(event.call.input));
  if (event.type === 'tool-result') console.log(event.toolName, JSON.stringify(event.result.value));
}
const end = await complaint.finalResponse();
console.log(end.steps.length, end.usage?.totalTokens);
