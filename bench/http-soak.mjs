// Heap over many turns as responses, of which a third is read to its end, a third left in the middle, and a third fails; fails if it grows.
// `npm run soak:http -- 20000`. Needs `npm run build`.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ChatClient, ModelCallError } from '../dist/index.js';
import { toResponse } from '../dist/http.js';
import { ScriptedChatModel } from '../dist/testing.js';

const TURNS = Number(process.argv[2] ?? 20_000);
const SAMPLES = 10;
const BOUND = 1.05;
const FORMATS = ['sse', 'ndjson', 'text'];

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

async function run() {
  const format = FORMATS[Math.floor(turn / 3) % FORMATS.length];
  const response = await toResponse(client.prompt('Q').stream(), { format, signal });
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
const timers = process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
const growth = heaps.at(-1) / heaps[1];
console.log(`heap ${growth.toFixed(3)} times as large, ${timers} timers`);
if (growth > BOUND || timers > 0) throw new Error('a response has left something');
