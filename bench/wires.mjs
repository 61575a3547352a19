// CPU of each wire against `fetch` by hand that reads the same answer, in turn within one run; the server is a process of its own.
// `npm run bench:wires -- cohere` measures what has that in its name. Needs `npm run build`.
import { Prompt } from '../dist/index.js';
import { startServer } from '../.ci/wires/start-server.mjs';
import { WIRES } from '../.ci/wires/formats.mjs';

const CHUNKS = 2_000;
const ROUNDS = 40;
/** Rounds before those that count: compilation. */
const WARM_UP = 10;
const BOUNDS = { stream: 2, call: 1.1 };
const TIMES = { stream: 3, call: 150 };

const { address, stop } = await startServer();
const headers = { 'content-type': 'application/json', authorization: 'Bearer key' };

function sendByHand(name, path, body) {
  return fetch(`${address}/${name}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'm', ...body }),
  });
}

/** Fetch, decode, split into lines, parse. */
async function streamByHand(name, { path, textOf }) {
  const messages = [{ role: 'user', content: 'a long answer' }];
  const response = await sendByHand(name, path, { stream: true, messages });
  const decoder = new TextDecoder();
  let rest = '';
  let text = '';
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const json = line.startsWith('data: ') ? line.slice(6) : line;
      if (json.startsWith('{')) text += textOf(JSON.parse(json));
    }
  }
  return text;
}

async function callByHand(name, { path, callPath = path }) {
  const messages = [{ role: 'user', content: 'a short answer' }];
  const response = await sendByHand(name, callPath, { messages });
  return JSON.stringify(await response.json());
}

const promptOf = (content) => new Prompt([{ role: 'user', content }]);

const streamByModel = (model) =>
  new Promise((resolve, reject) => {
    let text = '';
    const next = (event) => {
      if (event.type === 'text-delta') text += event.text;
    };
    const observer = { next, error: reject, complete: () => resolve(text) };
    model.stream(promptOf('a long answer')).subscribe(observer);
  });

const callByModel = async (model) => (await model.call(promptOf('a short answer'))).text;

async function cpuOf(work, times) {
  const before = process.cpuUsage();
  for (let each = 0; each < times; each++) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

const quantile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)];

/** Microseconds by hand and by the model in rounds; the one that begins changes. */
async function measure(byHand, byModel, times) {
  const rounds = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const [hand, own] = round % 2 === 0 ? [byHand, byModel] : [byModel, byHand];
    const [first, second] = [await cpuOf(hand, times), await cpuOf(own, times)];
    rounds.push(round % 2 === 0 ? [first, second] : [second, first]);
  }
  return rounds.slice(WARM_UP);
}

async function check(byHand, byModel, expected) {
  const texts = [await byHand(), await byModel()];
  for (const text of texts)
    if (!text.includes(expected)) throw new Error(`the answer was ${text.slice(0, 200)}`);
}

async function compare(label, mode, [byHand, byModel], expected) {
  await check(byHand, byModel, expected);
  const rounds = await measure(byHand, byModel, TIMES[mode]);
  const ratios = rounds.map(([hand, own]) => own / hand);
  const [unit, divisor] = mode === 'stream' ? ['µs a chunk', CHUNKS] : ['µs a call', 1];
  const [hand, own] = [0, 1].map(
    (at) =>
      quantile(
        rounds.map((each) => each[at]),
        0.5,
      ) / divisor,
  );
  const ratio = quantile(ratios, 0.5);
  const range = `${quantile(ratios, 0.1).toFixed(2)} – ${quantile(ratios, 0.9).toFixed(2)}`;
  const verdict = ratio <= BOUNDS[mode] ? '' : `  over ${BOUNDS[mode]}`;
  console.log(
    `${label.padEnd(24)} ${ratio.toFixed(2)} (${range})  ${own.toFixed(1)} against ${hand.toFixed(1)} ${unit}${verdict}`,
  );
}

const [, , only = ''] = process.argv;
for (const [name, wire] of Object.entries(WIRES)) {
  const { [wire.model]: Model } = await import(`../dist/${wire.entry}.js`);
  const model = new Model({ model: 'm', apiKey: 'key', baseURL: `${address}/${name}` });
  const cases = {
    stream: [[() => streamByHand(name, wire), () => streamByModel(model)], `wörd ${CHUNKS - 1} `],
    call: [[() => callByHand(name, wire), () => callByModel(model)], 'short'],
  };
  for (const [mode, [pair, expected]] of Object.entries(cases))
    if (`${name}, ${mode}`.includes(only)) await compare(`${name}, ${mode}`, mode, pair, expected);
}
stop();
