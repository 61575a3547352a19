import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { hasToolCall, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const provider = createOpenAICompatible({
  name: 'local',
  baseURL: process.env['BASE_URL'] ?? 'http://127.0.0.1:8080/v1',
  includeUsage: true,
});

const tools = {
  find_order: tool({
    description: 'Finds an order by its number.',
    inputSchema: z.object({ number: z.string() }),
    execute: ({ number }) => ({ number, amount: 40, currency: 'EUR' }),
  }),
  in_dollars: tool({
    description: 'Converts an amount into dollars.',
    inputSchema: z.object({ amount: z.number(), currency: z.string() }),
    execute: ({ amount }) => ({ dollars: amount * 1.25 }),
  }),
  hand_over: tool({
    description: 'Hands the customer over to a person.',
    inputSchema: z.object({ reason: z.string() }),
    execute: ({ reason }) => `Ticket 7: ${reason}`,
  }),
};

const ask = (prompt: string) =>
  streamText({
    model: provider('large'),
    system: 'You help the customers of a shop.',
    prompt,
    tools,
    stopWhen: [stepCountIs(4), hasToolCall('hand_over')],
    prepareStep: ({ stepNumber }) =>
      stepNumber === 0
        ? { activeTools: ['find_order'], toolChoice: 'required' }
        : { model: provider('small') },
    onStepFinish: ({ toolCalls, usage }) =>
      console.log(`step: ${toolCalls.length} calls, ${usage.totalTokens} tokens`),
  });

// the text as it comes, and the steps at the end
const costs = ask('What did order 42 cost in dollars?');
for await (const text of costs.textStream) console.log(`text: ${text}`);
for (const { text, toolResults } of await costs.steps) {
  const results = toolResults.map(({ toolName, output }) => [toolName, output]);
  console.log(text, JSON.stringify(results));
}
console.log((await costs.totalUsage).totalTokens);

// all parts; the call of hand_over ends the turn
const complaint = ask('Order 42 is broken!');
for await (const part of complaint.fullStream) {
  if (part.type === 'text-delta') console.log(`text: ${part.text}`);
  if (part.type === 'tool-call') console.log(part.toolName, JSON.stringify(part.input));
  if (part.type === 'tool-result') console.log(part.toolName, JSON.stringify(part.output));
}
console.log((await complaint.steps).length, (await complaint.totalUsage).totalTokens);
