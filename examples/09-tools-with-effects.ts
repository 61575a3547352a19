// Tools with effects: order of calls, retries with an idempotency key, and errors for the model.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ChatClient, defineTool, textOf, ToolError } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const balances = new Map([
  ['anna', 100],
  ['ben', 0],
]);
const done = new Set<string>(); // keys of completed transfers, as a bank stores them
let failures = 1;

const transfer = defineTool({
  name: 'transfer',
  description: 'Moves money between two accounts.',
  input: z.object({ from: z.string(), to: z.string(), euros: z.number().int().positive() }),
  effect: 'idempotent',
  concurrencyKey: 'accounts',
  retries: 2,
  execute: async ({ from, to, euros }, { idempotencyKey }) => {
    if (!done.has(idempotencyKey)) {
      const left = (balances.get(from) ?? 0) - euros;
      if (left < 0) throw new ToolError(`${from} has not enough money`); // the model may read this
      await sleep(5);
      balances.set(from, left);
      balances.set(to, (balances.get(to) ?? 0) + euros);
      done.add(idempotencyKey);
    }
    // the transfer is complete, but the response is lost: the call is retried with the same key
    if (failures-- > 0) throw new Error('connection to 10.0.0.7 lost');
    return `${from} has ${balances.get(from) ?? 0} € now`;
  },
});

const balance = defineTool({
  name: 'balance',
  description: 'How much is on an account.',
  input: z.object({ of: z.string() }),
  effect: 'read',
  concurrencyKey: 'accounts', // runs after the transfers that the model requested before it
  execute: ({ of }) => balances.get(of) ?? 0,
});

const broken = defineTool({
  name: 'broken',
  execute: () => {
    throw new Error('password=secret'); // only the application reads this
  },
});

const toolCalls = [
  { id: '1', name: 'transfer', arguments: { from: 'anna', to: 'ben', euros: 60 } },
  { id: '2', name: 'transfer', arguments: { from: 'anna', to: 'ben', euros: 60 } },
  { id: '3', name: 'balance', arguments: { of: 'ben' } },
  { id: '4', name: 'broken', arguments: {} },
];

const model = new ScriptedChatModel(({ messages }, index) => {
  if (index === 0) return { toolCalls };
  return messages
    .flatMap((message) =>
      message.role === 'tool' ? [`${message.toolCallId}: ${textOf(message.content)}`] : [],
    )
    .join('\n');
});

console.log(
  await ChatClient.create(model)
    .prompt('Move 60 € to Ben, twice.')
    .tools(transfer, balance, broken)
    .call()
    .content(),
);
