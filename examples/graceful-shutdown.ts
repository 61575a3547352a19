// SIGTERM without a durable engine: running turns may end, the others are cancelled, and nothing is stored of them.
import { setTimeout as delay } from 'node:timers/promises';
import {
  AdvisorOrder,
  CancelledError,
  ChatClient,
  defineAdvisor,
  defineTool,
} from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

/** Milliseconds in which running turns can end; 20,000 is usual. */
const TIME_LIMIT = 300;

const running = new Set<Promise<unknown>>();
const shutdown = new AbortController();
const countTurns = defineAdvisor({
  name: 'running-turns',
  order: AdvisorOrder.OBSERVABILITY - 100,
  around: (request, next) => {
    const turn = next(request).finally(() => running.delete(turn));
    running.add(turn);
    return turn;
  },
});

const wait = defineTool({
  name: 'wait',
  effect: 'read',
  input: { type: 'object', properties: { milliseconds: { type: 'number' } } },
  execute: async ({ milliseconds }, { signal }) => {
    await delay(Number(milliseconds), undefined, { signal });
    return 'done';
  },
});
const model = new ScriptedChatModel(({ messages }) => {
  const [question] = messages.filter(({ role }) => role === 'user');
  if (messages.some(({ role }) => role === 'tool')) return 'It is done.';
  const milliseconds = question?.role === 'user' && question.content === 'short' ? 50 : 60_000;
  return { toolCalls: [{ id: 'call_1', name: 'wait', arguments: { milliseconds } }] };
});
const client = ChatClient.builder(model).defaultTools(wait).defaultAdvisors(countTurns).build();

async function ask(question: string): Promise<void> {
  try {
    const answer = await client.prompt(question).signal(shutdown.signal).call().content();
    console.log(`${question}: ${answer}`);
  } catch (error) {
    if (!(error instanceof CancelledError)) throw error;
    console.log(`${question}: cancelled`);
  }
}

process.once('SIGTERM', () => void drain());

async function drain(): Promise<void> {
  console.log(`SIGTERM: ${running.size} turns are running`);
  // a server closes here, so that no turn begins: server.close()
  await Promise.race([Promise.allSettled(running), delay(TIME_LIMIT, undefined, { ref: false })]);
  shutdown.abort(new Error('The process ends.'));
  await Promise.allSettled(running);
  console.log(`${running.size} turns are running`);
}

const asked = Promise.all([ask('short'), ask('long')]);
// keeps the process alive: a listener of a signal does not
const alive = setInterval(() => undefined, 1000);
process.kill(process.pid, 'SIGTERM');
await asked;
clearInterval(alive);
