// The share of an Inspector in the CPU of a turn with three tools, over loopback: each variant runs in a process of its own, so that it pays for its own
// garbage, and has the wire of `OpenAIChatModel` in it. Two kinds of turns are measured:
// - `usual`, which the bound is for: a conversation of 20 messages, eight tools with schemas, and an answer whose chunks are written one by one, as a model
//   writes them. Reading a chunk by itself costs many times what decoding it does.
// - `short`, the least that a turn can be: one question, one tool, all chunks in one write. No model answers like that; it shows what the inspector costs
//   where nothing else costs anything, and has no bound.
// Medians of the ratios of rounds that run all variants, one after the other. See bench/README.md. Usage: npm run bench:inspector [rounds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Inspector } from '../src/bridges/inspector/index.ts';
import { ChatClient, defineTool, GuardAdvisor, piiRule, RetryAdvisor } from '../src/index.ts';
import { OpenAIChatModel } from '../src/models/openai/index.ts';

const CHUNKS = 100;
/** Turns at once. */
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
/** A history of this or more messages has its answer in single chunks. */
const USUAL_LENGTH = 20;
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

async function answerTo({ messages, stream }, response) {
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
  if (messages.length > USUAL_LENGTH)
    while (texts.length > 1) {
      response.write(texts.shift());
      await setTimeout(1);
    }
  return response.end(`${texts.join('')}data: [DONE]\n\n`);
}

const toolOf = (name) =>
  defineTool({
    name,
    description: `Looks up the ${name} of a town, for today and for the days after it.`,
    input: {
      type: 'object',
      properties: {
        town: { type: 'string', description: 'Name of the town, in English.' },
        days: { type: 'integer', minimum: 0, maximum: 10, description: 'Days from today.' },
      },
      required: ['town'],
    },
    execute: ({ town }) => `sun in ${String(town)}`,
  });
const TOOLS = ['look', 'wind', 'rain', 'tide', 'pollen', 'traffic', 'events', 'hotels'].map(toolOf);
const HISTORY = Array.from({ length: USUAL_LENGTH }, (_, at) => {
  return { role: at % 2 === 0 ? 'user' : 'assistant', content: `${at} ${'word '.repeat(60)}` };
});

const KINDS = {
  usual: (client) =>
    client
      .prompt('Weather?')
      .messages(...HISTORY)
      .tools(...TOOLS.slice(1)),
  short: (client) => client.prompt('Weather?'),
};
const MODES = {
  call: (spec) => spec.call().content(),
  stream: (spec) => spec.stream().finalResponse(),
};
const VARIANTS = ['none', 'again', 'inspector'];

function clientOf(port, advisors) {
  const baseURL = `http://127.0.0.1:${port}`;
  return ChatClient.builder(new OpenAIChatModel({ model: 'bench', apiKey: 'none', baseURL }))
    .defaultSystem('Be brief.')
    .defaultTools(TOOLS[0])
    .defaultAdvisors(
      new RetryAdvisor(),
      new GuardAdvisor({ input: [{ rules: piiRule(), action: 'redact' }] }),
      ...advisors,
    )
    .build();
}

/** Replies to each kind and mode with the microseconds of CPU of a turn. */
function runTurns(variant, port) {
  const inspector = new Inspector({ allowInProduction: true });
  const client = clientOf(port, variant === 'inspector' ? [inspector] : []);
  const measureTurns = async ({ kind, mode }) => {
    const before = process.cpuUsage();
    await Promise.all(Array.from({ length: TURNS }, () => MODES[mode](KINDS[kind](client))));
    const { user, system } = process.cpuUsage(before);
    process.send({ cpu: (user + system) / TURNS, kept: inspector.turns().length });
  };
  process.on('message', (question) => void measureTurns(question));
  process.on('disconnect', () => process.exit());
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function ask(child, question) {
  const answered = once(child, 'message');
  child.send(question);
  const [{ cpu, kept }] = await answered;
  return { cpu, kept };
}

async function measure(children, rounds) {
  console.log('| turn | without, µs | the same again | with an inspector |');
  console.log('| ---- | ----------: | -------------: | ----------------: |');
  for (const kind of Object.keys(KINDS))
    for (const mode of Object.keys(MODES)) {
      const found = [];
      for (let round = 0; round < WARM_UP + rounds; round++) {
        const cpu = {};
        // another one begins each round
        for (let at = 0; at < VARIANTS.length; at++) {
          const variant = VARIANTS[(at + round) % VARIANTS.length];
          const answer = await ask(children[variant], { kind, mode });
          cpu[variant] = answer.cpu;
          if (round >= WARM_UP && answer.kept !== (variant === 'inspector' ? 500 : 0))
            throw new Error(`${variant}: ${answer.kept} turns are kept`);
        }
        if (round >= WARM_UP) found.push(cpu);
      }
      const ratioOf = (variant) => median(found.map((cpu) => cpu[variant] / cpu.none));
      if (kind === 'usual' && ratioOf('inspector') >= MAX_RATIO) process.exitCode = 1;
      const cells = [
        `${kind}, ${mode}`,
        Math.round(median(found.map(({ none }) => none))),
        ratioOf('again').toFixed(3),
        ratioOf('inspector').toFixed(3),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
}

const [, , first, port] = process.argv;
if (first === 'server') serve();
else if (VARIANTS.includes(first)) runTurns(first, port);
else {
  const start = (...args) => fork(fileURLToPath(import.meta.url), args);
  const server = start('server');
  const [at] = await once(server, 'message');
  const children = Object.fromEntries(VARIANTS.map((each) => [each, start(each, String(at))]));
  await measure(children, Number(first ?? 31));
  for (const child of [server, ...Object.values(children)]) child.disconnect();
}
