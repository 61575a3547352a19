// The cost of a step of a durable turn whose engine records nothing: CPU with the advisor minus CPU without it, taken in turn.
// Usage: npm run bench:durable [turns in a sample]
import { ChatClient, ChatResponse, defineTool, DurableAdvisor } from '../src/index.js';
import type { ChatModel } from '../src/chat/chat-model.js';
import type { DurableEngine } from '../src/durable/durable-engine.js';

const ITERATIONS = 10;
const ROUNDS = 30;
const TURNS = Number(process.argv[2] ?? 40);

const engine: DurableEngine = {
  isReplaying: false,
  step: (_, run) => run(),
  sleep: () => Promise.resolve(),
  waitFor: () => Promise.resolve(undefined),
};

function modelOf(iterations: number): ChatModel {
  const answer = ChatResponse.ofText('Here is the answer to your question.');
  const asks = Array.from({ length: iterations }, (_, at) =>
    answer.with({
      generations: [
        {
          message: {
            role: 'assistant',
            text: null,
            toolCalls: [{ id: `call_${at}`, name: 'look', arguments: `{"at":${at}}` }],
          },
          finishReason: 'tool_calls',
        },
      ],
    }),
  );
  return {
    defaultOptions: { model: 'bench' },
    call: ({ messages }) =>
      Promise.resolve(asks[messages.filter(({ role }) => role === 'tool').length] ?? answer),
    stream: () => {
      throw new Error('not measured');
    },
  };
}

function clientOf(iterations: number, isDurable: boolean): ChatClient {
  const look = defineTool({
    name: 'look',
    effect: 'read',
    input: { type: 'object', properties: { at: { type: 'integer' } } },
    execute: () => 'Found 12 items that match the query.',
  });
  return ChatClient.builder(modelOf(iterations))
    .defaultSystem('You are a helpful assistant that answers briefly.')
    .defaultTools(look)
    .defaultAdvisors(...(isDurable ? [new DurableAdvisor({ engine })] : []))
    .build() as ChatClient;
}

async function cpuOf(client: ChatClient, turns: number): Promise<number> {
  const before = process.cpuUsage();
  for (let turn = 0; turn < turns; turn++) await client.prompt('Find it.').call().content();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / turns;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;

/** Microseconds that the advisor adds to a turn. */
async function addedTo(iterations: number, turns: number): Promise<number> {
  const clients = [clientOf(iterations, false), clientOf(iterations, true)] as const;
  const differences: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const plain = await cpuOf(clients[0], turns);
    differences.push((await cpuOf(clients[1], turns)) - plain);
  }
  return median(differences.slice(ROUNDS / 3));
}

const one = await addedTo(0, TURNS * ITERATIONS);
const loop = await addedTo(ITERATIONS, TURNS);
const steps = 2 * ITERATIONS;
console.log(`turn of one model call: ${one.toFixed(1)} µs more`);
console.log(
  `turn of ${ITERATIONS + 1} model calls and ${ITERATIONS} tool calls: ${loop.toFixed(1)} µs more`,
);
console.log(`a step of the loop: ${((loop - one) / steps).toFixed(1)} µs`);
