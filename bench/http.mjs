// CPU and bytes a chunk of each format of `advisor-chain/http`, against a loop by hand that writes the same events as SSE, in turn within one run.
// `npm run bench:http`. Needs `npm run build`.
import { ChatClient } from '../dist/index.js';
import { toResponse } from '../dist/http.js';
import { ScriptedChatModel } from '../dist/testing.js';

const CHUNKS = 2_000;
const ROUNDS = 60;
/** Rounds before those that count: compilation. */
const WARM_UP = 20;
const BOUND = 1.5;
const BYTES = new TextEncoder();

const deltas = Array.from({ length: CHUNKS }, (_, at) => ` word ${at}`);
const client = ChatClient.create(new ScriptedChatModel(() => ({ deltas })));

/** The events of a run, which each way gets from the same iterator. */
const recorded = [];
for await (const event of client.prompt('Q').stream().events()) recorded.push(event);
async function* replay() {
  for (const event of recorded) yield event;
}

function byHand(events) {
  const iterator = events[Symbol.asyncIterator]();
  const body = new ReadableStream(
    {
      pull: async (controller) => {
        const { done, value } = await iterator.next();
        if (done) return controller.close();
        if (value.type === 'response') {
          const { text, usage } = value.response;
          controller.enqueue(BYTES.encode(`data: ${JSON.stringify({ type: 'response', text, usage })}\n\n`)); // prettier-ignore
        } else {
          controller.enqueue(BYTES.encode(`data: ${JSON.stringify(value)}\n\n`));
        }
      },
      cancel: () => iterator.return(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

const SOURCES = {
  'recorded events': replay,
  'a turn': () => client.prompt('Q').stream().events(),
};
const WAYS = {
  'by hand, SSE': byHand,
  sse: (events) => toResponse(events, { format: 'sse' }),
  ndjson: (events) => toResponse(events, { format: 'ndjson' }),
  text: (events) => toResponse(events, { format: 'text' }),
};

async function bytesOf(response) {
  let bytes = 0;
  for await (const chunk of response.body) bytes += chunk.length;
  return bytes;
}

async function measure(source, way) {
  const start = process.cpuUsage();
  const bytes = await bytesOf(await way(source()));
  const { user, system } = process.cpuUsage(start);
  return { bytes: bytes / CHUNKS, cpu: (user + system) / CHUNKS };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const over = [];
for (const [kind, source] of Object.entries(SOURCES)) {
  const results = Object.fromEntries(Object.keys(WAYS).map((name) => [name, []]));
  for (let round = 0; round < WARM_UP + ROUNDS; round++)
    for (const [name, way] of Object.entries(WAYS)) {
      const result = await measure(source, way);
      if (round >= WARM_UP) results[name].push(result);
    }
  const [hand] = Object.values(results).map((each) => median(each.map(({ cpu }) => cpu)));
  for (const [name, each] of Object.entries(results)) {
    const cpu = median(each.map((result) => result.cpu));
    const ratio = cpu / hand;
    console.log(
      `${kind}, ${name}: ${cpu.toFixed(2)} µs and ${each[0].bytes.toFixed(1)} bytes a chunk, ${ratio.toFixed(2)} times by hand`,
    );
    if (ratio > BOUND) over.push(`${kind}, ${name}: ${ratio.toFixed(2)}`);
  }
}
if (over.length > 0) throw new Error(`over the bound of ${BOUND}: ${over.join('; ')}`);
