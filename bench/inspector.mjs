// The share of an Inspector in the CPU of a turn, with the `openai` client over loopback: median of the ratios of rounds that run both, one after
// the other. See bench/README.md. Usage: npm run bench:inspector [rounds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Inspector } from '../src/bridges/inspector/index.ts';
import { ChatClient, defineTool, GuardAdvisor, piiRule, RetryAdvisor } from '../src/index.ts';
import { OpenAIChatModel } from '../src/models/openai/index.ts';

const CHUNKS = 100;
const TURNS = 40;
/** Rounds before the first that counts: the code is compiled, and the inspector keeps as many turns as it will. */
const WARM_UP = 15;
const MAX_RATIO = 1.05;

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const calls = ['a', 'b', 'c'].map((id, index) => {
  return { index, id, type: 'function', function: { name: 'look', arguments: '{"town":"Ulm"}' } };
});
const answer = 'word '.repeat(CHUNKS);
const whole = (message, finish_reason) =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'bench',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  });

/** A server that asks for three tools, and then answers. */
function serve() {
  const server = createServer((request, response) => {
    void text(request).then((body) => answerTo(JSON.parse(body), response));
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('disconnect', () => process.exit());
}

function answerTo({ messages, stream }, response) {
  const asks = messages.at(-1).role === 'user';
  response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
  if (!stream)
    return response.end(
      asks
        ? whole(
            { content: null, tool_calls: calls.map(({ index: _index, ...call }) => call) },
            'tool_calls',
          )
        : whole({ content: answer }, 'stop'),
    );
  const texts = asks
    ? [chunk({ role: 'assistant', tool_calls: calls }), chunk({}, 'tool_calls')]
    : [...Array.from({ length: CHUNKS }, () => chunk({ content: 'word ' })), chunk({}, 'stop')];
  return response.end(`${texts.join('')}data: [DONE]\n\n`);
}

const look = defineTool({
  name: 'look',
  input: { type: 'object', properties: { town: { type: 'string' } } },
  execute: ({ town }) => `sun in ${String(town)}`,
});

function clientOf(port, advisors) {
  const model = new OpenAIChatModel({
    model: 'bench',
    apiKey: 'none',
    baseURL: `http://127.0.0.1:${port}`,
  });
  return ChatClient.builder(model)
    .defaultSystem('Be brief.')
    .defaultTools(look)
    .defaultAdvisors(
      new RetryAdvisor(),
      new GuardAdvisor({ input: [{ rules: piiRule(), action: 'redact' }] }),
      ...advisors,
    )
    .build();
}

const RUNS = {
  call: (client) => client.prompt('Weather?').call().content(),
  stream: (client) => client.prompt('Weather?').stream().finalResponse(),
};

/** Microseconds of CPU for a turn. */
async function cpuOf(run, client) {
  globalThis.gc?.();
  const before = process.cpuUsage();
  for (let turn = 0; turn < TURNS; turn++) await run(client);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / TURNS;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure(port, rounds) {
  const inspector = new Inspector({ allowInProduction: true });
  const clients = {
    none: clientOf(port, []),
    again: clientOf(port, []),
    inspector: clientOf(port, [inspector]),
  };
  console.log('| turn | without, µs | the same again | with an inspector |');
  console.log('| ---- | ----------: | -------------: | ----------------: |');
  let isOver = false;
  for (const [mode, run] of Object.entries(RUNS)) {
    for (const client of Object.values(clients))
      for (let at = 0; at < WARM_UP; at++) await cpuOf(run, client);
    const found = [];
    for (let round = 0; round < rounds; round++) {
      const cpu = {};
      const names = Object.keys(clients);
      // another one begins each round
      for (let at = 0; at < names.length; at++) {
        const name = names[(at + round) % names.length];
        cpu[name] = await cpuOf(run, clients[name]);
      }
      found.push(cpu);
    }
    const ratioOf = (name) => median(found.map((cpu) => cpu[name] / cpu.none));
    isOver ||= ratioOf('inspector') >= MAX_RATIO;
    const cells = [
      mode,
      Math.round(median(found.map(({ none }) => none))),
      ratioOf('again').toFixed(3),
      ratioOf('inspector').toFixed(3),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  if (inspector.turns().length !== 500) throw new Error('turns were not recorded');
  if (isOver) process.exitCode = 1;
}

if (process.argv[2] === 'server') serve();
else {
  const server = fork(fileURLToPath(import.meta.url), ['server']);
  const [port] = await once(server, 'message');
  await measure(port, Number(process.argv[2] ?? 31));
  server.disconnect();
}
