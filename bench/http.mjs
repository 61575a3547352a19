// CPU and bytes a chunk of the formats for browsers: against loops by hand, one that writes the events as SSE and one that writes the frames
// of the format, and against the pipeline of the AI SDK. All are taken in turn within one run. `npm run bench:http`. Needs `npm run build`.
import { createUIMessageStreamResponse, streamText } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { agUI } from '../dist/ag-ui.js';
import { toResponse } from '../dist/http.js';
import { ChatClient } from '../dist/index.js';
import { serveOpenAI } from '../dist/serve.js';
import { ScriptedChatModel } from '../dist/testing.js';
import { toUIMessageStreamResponse } from '../dist/ui.js';

const CHUNKS = 2_000;
const ROUNDS = 60;
/** Rounds before those that count: compilation. */
const WARM_UP = 20;
const BOUND = 1.5;
const BYTES = new TextEncoder();

const deltas = Array.from({ length: CHUNKS }, (_, at) => ` word ${at}`);
const client = ChatClient.create(new ScriptedChatModel(() => ({ deltas })));
const turn = () => client.prompt('Q').stream().events();

/** The events of a run, which each way gets from the same iterator. */
const recorded = [];
for await (const event of turn()) recorded.push(event);
async function* replay() {
  for (const event of recorded) yield event;
}

/** A response by hand, of frames that are made of events. */
function byHand(events, toFrame) {
  const iterator = events[Symbol.asyncIterator]();
  const body = new ReadableStream(
    {
      pull: async (controller) => {
        const { done, value } = await iterator.next();
        if (done) return controller.close();
        controller.enqueue(BYTES.encode(toFrame(value)));
      },
      cancel: () => iterator.return(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

const frame = (data) => `data: ${JSON.stringify(data)}\n\n`;

function eventFrame(event) {
  if (event.type !== 'response') return frame(event);
  const { text, usage } = event.response;
  return frame({ type: 'response', text, usage });
}

/** Frames by hand, with the fields that each format writes for a text. */
const HAND = {
  sse: eventFrame,
  ndjson: (event) => eventFrame(event).slice('data: '.length, -1),
  text: (event) => (event.type === 'text-delta' ? event.text : ''),
  ui: (event) =>
    frame(
      event.type === 'text-delta'
        ? { type: 'text-delta', id: 'text-1', delta: event.text }
        : { type: 'finish' },
    ),
  'ag-ui': (event) =>
    frame(
      event.type === 'text-delta'
        ? { type: 'TEXT_MESSAGE_CONTENT', messageId: 'run-1-0', delta: event.text }
        : { type: 'RUN_FINISHED' },
    ),
  serve: (event) => frame(completion(event.type === 'text-delta' ? { content: event.text } : {})),
};

function completion(delta) {
  return {
    id: 'chatcmpl-0b9e0f9a-6d0f-4c0e-8d0e-3f1d5b2a7c11',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'support',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
  };
}

const serve = serveOpenAI({ clients: { support: client }, authorize: () => true });
const asked = { model: 'support', stream: true, messages: [{ role: 'user', content: 'Q' }] };
const request = () =>
  new Request('http://localhost/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    body: JSON.stringify(asked),
  });

const OURS = {
  sse: (events) => toResponse(events, { format: 'sse' }),
  ndjson: (events) => toResponse(events, { format: 'ndjson' }),
  text: (events) => toResponse(events, { format: 'text' }),
  ui: (events) => toUIMessageStreamResponse(events),
  'ag-ui': (events) => toResponse(events, { format: agUI({ threadId: 't', runId: 'run-1' }) }),
};

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: CHUNKS, text: CHUNKS, reasoning: 0 },
};
const parts = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: 'text-1' },
  ...deltas.map((delta) => ({ type: 'text-delta', id: 'text-1', delta })),
  { type: 'text-end', id: 'text-1' },
  { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
];
const chunks = [
  { type: 'start' },
  { type: 'start-step' },
  ...parts.slice(1, -1),
  { type: 'finish-step' },
  { type: 'finish' },
];
const model = new MockLanguageModelV3({ doStream: async () => ({ stream: streamOf(parts) }) });

/** The parts as a model streams them: each when it is asked for. */
function streamOf(values) {
  let at = 0;
  return new ReadableStream({
    pull: (controller) =>
      at < values.length ? controller.enqueue(values[at++]) : controller.close(),
  });
}

const AI_SDK = {
  'streamText, toUIMessageStreamResponse': () =>
    streamText({ model, prompt: 'Q' }).toUIMessageStreamResponse(),
  createUIMessageStreamResponse: () => createUIMessageStreamResponse({ stream: streamOf(chunks) }),
};

/** Ways by their name, of each kind of source. */
const KINDS = {
  'recorded events': waysOf(replay, 'createUIMessageStreamResponse'),
  'a turn': {
    ...waysOf(turn, 'streamText, toUIMessageStreamResponse'),
    serve: () => serve(request()),
    'by hand, serve': () => byHand(turn(), HAND.serve),
  },
};

function waysOf(source, peer) {
  const entries = Object.entries(OURS).flatMap(([format, respond]) => [
    [format, () => respond(source())],
    [`by hand, ${format}`, () => byHand(source(), HAND[format])],
  ]);
  return { ...Object.fromEntries(entries), [peer]: AI_SDK[peer] };
}

async function measure(way) {
  const start = process.cpuUsage();
  const response = await way();
  let bytes = 0;
  for await (const chunk of response.body) bytes += chunk.length;
  const { user, system } = process.cpuUsage(start);
  return { bytes: bytes / CHUNKS, cpu: (user + system) / CHUNKS };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function resultsOf(ways) {
  const names = Object.keys(ways);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < WARM_UP + ROUNDS; round++)
    // each begins as often after each other one, since it collects the garbage of that
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length];
      const result = await measure(ways[name]);
      if (round >= WARM_UP) results[name].push(result);
    }
  return results;
}

const over = [];
for (const [kind, ways] of Object.entries(KINDS)) {
  const results = await resultsOf(ways);
  const ratio = (name, base) =>
    median(results[name].map(({ cpu }, round) => cpu / results[base][round].cpu));
  const [peer] = Object.keys(AI_SDK).filter((name) => name in ways);
  console.log(`| ${kind} | µs a chunk | bytes a chunk | same frames by hand | SSE by hand | ${peer} |`); // prettier-ignore
  console.log('| --- | --: | --: | --: | --: | --: |');
  for (const [name, each] of Object.entries(results)) {
    const hand = `by hand, ${name}`;
    const shown = [
      median(each.map(({ cpu }) => cpu)).toFixed(2),
      each[0].bytes.toFixed(1),
      hand in results ? ratio(name, hand).toFixed(2) : '–',
      ratio(name, 'by hand, sse').toFixed(2),
      name === 'ui' ? ratio(name, peer).toFixed(2) : '–',
    ];
    console.log(`| ${name} | ${shown.join(' | ')} |`);
    if (hand in results && ratio(name, hand) > BOUND) over.push(`${kind}, ${name}: ${shown[2]}`);
  }
}
if (over.length > 0) throw new Error(`over the bound of ${BOUND}: ${over.join('; ')}`);
