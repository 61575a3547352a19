// Heap over many turns as responses of every kind, of which a third is read to its end, a third left in the middle, and a third fails; fails if it grows.
// `npm run soak:http -- 20000`. Needs `npm run build`.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { agUI } from '../dist/ag-ui.js';
import { ChatClient, ModelCallError } from '../dist/index.js';
import { toResponse } from '../dist/http.js';
import { serveOpenAI } from '../dist/serve.js';
import { ScriptedChatModel } from '../dist/testing.js';
import { InMemoryTurnLog, TurnStreams } from '../dist/turn-log.js';
import { toUIMessageStreamResponse } from '../dist/ui.js';

const TURNS = Number(process.argv[2] ?? 20_000);
const SAMPLES = 10;
const BOUND = 1.05;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

const deltas = Array.from({ length: 20 }, (_, at) => ` word ${at}`);
const error = () => new ModelCallError('down', { status: 503 });
let turn = 0;
const model = new ScriptedChatModel(() => {
  model.prompts.length = 0;
  return turn % 3 === 2 ? { error: error() } : { deltas };
});
const client = ChatClient.create(model);
/** Of the process: all responses have listened to it. */
const { signal } = new AbortController();

const stream = () => client.prompt('Q').stream();
const streams = new TurnStreams({ log: new InMemoryTurnLog() });
const serve = serveOpenAI({ clients: client, authorize: () => true });
const asked = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Q' }] };
const headers = { 'content-type': 'application/json', authorization: 'Bearer key' };

const WAYS = {
  sse: () => toResponse(stream(), { format: 'sse', signal }),
  ndjson: () => toResponse(stream(), { format: 'ndjson', signal }),
  text: () => toResponse(stream(), { format: 'text', signal }),
  ui: () => toUIMessageStreamResponse(stream(), { signal }),
  'ag-ui': () => toResponse(stream(), { format: agUI({ threadId: 't', runId: 'r' }), signal }),
  // a log keeps the last two runs of a key
  log: async () =>
    toResponse(await streams.start(`k${turn % 63}`, stream()), { format: 'sse', signal }),
  serve: () =>
    serve(new Request('http://localhost/v1/chat/completions', { method: 'POST', headers, body: JSON.stringify(asked) })), // prettier-ignore
};
const NAMES = Object.keys(WAYS);

async function run() {
  const response = await WAYS[NAMES[Math.floor(turn / 3) % NAMES.length]]();
  if (turn % 3 === 1) {
    const reader = response.body.getReader();
    await reader.read();
    await reader.cancel();
  } else {
    await response.text();
  }
}

const heaps = [];
for (; turn < TURNS; turn++) {
  if (turn > 0 && turn % (TURNS / SAMPLES) === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collectGarbage();
    heaps.push(process.memoryUsage().heapUsed / 2 ** 20);
    console.log(`${turn} turns: ${heaps.at(-1).toFixed(2)} MB`);
  }
  await run();
}
await new Promise((resolve) => setTimeout(resolve, 2_000)); // the last writes of the log
const timers = process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
const growth = heaps.at(-1) / heaps[1];
console.log(`heap ${growth.toFixed(3)} times as large, ${timers} timers`);
if (growth > BOUND || timers > 0) throw new Error('a response has left something');
