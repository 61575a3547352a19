// The cost of a step of a durable turn whose engine records nothing: CPU with the advisor minus CPU without it, taken in turn. Needs `npm run build`.
// Usage: npm run bench:durable [turns in a sample]
import { ChatClient, ChatResponse, defineTool, DurableAdvisor } from '../dist/index.js';

const ITERATIONS = 10;
const ROUNDS = 30;
const TURNS = Number(process.argv[2] ?? 40);

const engine = {
  isReplaying: false,
  step: (_, run) => run(),
  sleep: () => Promise.resolve(),
  waitFor: () => Promise.resolve(undefined),
};

function modelOf(iterations) {
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

function clientOf(iterations, isDurable) {
  const look = defineTool({
    name: 'look',
    effect: 'read',
    input: { type: 'object', properties: { at: { type: 'integer' } } },
    execute: ({ at }) => `Found item ${at * 7_919} that matches the query.`, // equal ones would end the loop
  });
  return ChatClient.builder(modelOf(iterations))
    .defaultSystem('You are a helpful assistant that answers briefly.')
    .defaultTools(look)
    .defaultAdvisors(...(isDurable ? [new DurableAdvisor({ engine })] : []))
    .build();
}

async function cpuOf(client, turns) {
  const before = process.cpuUsage();
  for (let turn = 0; turn < turns; turn++) await client.prompt('Find it.').call().content();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / turns;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Microseconds that the advisor adds to a turn. */
async function addedTo(iterations, turns) {
  const clients = [clientOf(iterations, false), clientOf(iterations, true)];
  const differences = [];
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
