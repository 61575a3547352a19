// Tools that change things: who waits for whom, what is tried again, and what the model is told of a failure.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ChatClient, defineTool, textOf, ToolError } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const balances = new Map([
  ['anna', 100],
  ['ben', 0],
]);
const done = new Set<string>(); // what a bank keeps: the keys of the transfers that it has made
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
    // the money is moved, but the answer is lost: the call is tried again with the same key
    if (failures-- > 0) throw new Error('connection to 10.0.0.7 lost');
    return `${from} has ${balances.get(from) ?? 0} € now`;
  },
});

const balance = defineTool({
  name: 'balance',
  description: 'How much is on an account.',
  input: z.object({ of: z.string() }),
  effect: 'read',
  concurrencyKey: 'accounts', // waits for the transfers that the model asked for before it
  execute: ({ of }) => balances.get(of) ?? 0,
});

const broken = defineTool({
  name: 'broken',
  execute: () => {
    throw new Error('password=secret'); // nobody but the application reads this
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
  return messages.flatMap((message) => (message.role === 'tool' ? [`${message.toolCallId}: ${textOf(message.content)}`] : [])).join('\n');
});

console.log(await ChatClient.create(model).prompt('Move 60 € to Ben, twice.').tools(transfer, balance, broken).call().content());
