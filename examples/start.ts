/**
 * One chat turn through a chain of advisors: the program of `npm start`.
 *
 *   npm start                      the question below, answered by the offline model
 *   npm start -- "a question"      your own question, with the same tools
 *   npm start -- --trace           also prints a tree of spans with their durations; works with a question too
 *   npm start -- --inspect         afterwards shows the turn on a page, at the printed address, until Ctrl-C
 *
 * With OPENAI_API_KEY set (and OPENAI_BASE_URL, OPENAI_MODEL if needed) the same program talks to a real model.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { z } from 'zod';
import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  defineTool,
  ObservabilityAdvisor,
  textOf,
  type Advisor,
  type ChatEvent,
  type ChatModel,
} from '../src/index.js';
import { toNodeHandler } from '../src/bridges/http/index.js';
import { Inspector, inspectorHandler } from '../src/bridges/inspector/index.js';
import { describeRun, OfflineChatModel, RecordingTracer } from '../src/testing/index.js';

const QUESTION =
  'Find a flight from Berlin to Lisbon and a hotel in Lisbon for 3 nights. What does the trip cost in total?';

// ---- three tools: the first two can run at the same time, the third needs their results

const findFlight = defineTool({
  name: 'find_flight',
  description: 'Finds the cheapest flight from one city to another.',
  input: z.object({
    from: z.string().describe('City of departure'),
    to: z.string().describe('City of arrival'),
  }),
  execute: async ({ from, to }, { signal }) => {
    await sleep(200, undefined, { signal }); // the duration of a real search; ends early when the run is cancelled
    return { airline: 'Example Air', price: 20 * (from.length + to.length) };
  },
});

const findHotel = defineTool({
  name: 'find_hotel',
  description: 'Finds a hotel in a city and shows what the whole stay costs.',
  input: z.object({ city: z.string(), nights: z.number().int() }),
  execute: async ({ city, nights }, { signal }) => {
    await sleep(100, undefined, { signal });
    return { hotel: `Hotel ${city}`, price: 15 * city.length * nights };
  },
});

const tripCost = defineTool({
  name: 'trip_cost',
  description: 'Adds up what a trip costs in total.',
  input: z.object({ flight_price: z.number(), hotel_price: z.number() }),
  execute: ({ flight_price, hotel_price }) => ({
    total: flight_price + hotel_price,
    currency: 'EUR',
  }),
});

// ---- an advisor that prints requests and responses; its position in the chain decides how often

function watcher(name: string, order: number): Advisor {
  return defineAdvisor({
    name,
    order,
    before: (request) =>
      note(name, `-> ${count(request.prompt.length, 'message')} on the way to the model`),
    after: ({ message: { toolCalls = [] } }) =>
      note(
        name,
        `<- ${toolCalls.length > 0 ? `asks for ${count(toolCalls.length, 'tool')}` : 'the answer'}`,
      ),
  });
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}

// ---- output for the events of a run

let column = 0; // column of the streamed text

function write(text: string): void {
  process.stdout.write(text);
  column = text.endsWith('\n') ? 0 : column + text.length;
}

function line(text = ''): void {
  write(column > 0 ? `\n${text}\n` : `${text}\n`);
}

function note(source: string, text: string): void {
  const noted = `  ${source.padEnd(18)} ${text}`;
  line(process.stdout.isTTY ? styleText('dim', noted) : noted);
}

function show(event: ChatEvent): void {
  if (event.type === 'text-delta') write(event.text);
  if (event.type === 'tool-call') note('tool call', `${event.call.name} ${event.call.arguments}`);
  if (event.type === 'tool-result')
    note('tool result', `${event.call.name} ${textOf(event.result.content)}`);
  if (event.type === 'response') {
    const { usage, text } = event.response;
    const tokens =
      usage &&
      `${usage.inputTokens} input + ${usage.outputTokens} output = ${usage.totalTokens} tokens in all iterations`;
    line();
    line(`Usage:  ${tokens ?? 'not reported'}`);
    line(`Answer: ${text ?? '(none)'}`);
  }
}

async function chooseModel(): Promise<ChatModel> {
  const {
    OPENAI_API_KEY: apiKey,
    OPENAI_BASE_URL: baseURL,
    OPENAI_MODEL: model = 'gpt-5-mini',
  } = process.env;
  if (!apiKey) return new OfflineChatModel({ delay: 10 });
  const { OpenAIChatModel } = await import('../src/models/openai/index.js'); // the package `openai` is needed here only
  return new OpenAIChatModel({ model, apiKey, ...(baseURL && { baseURL }) });
}

/** Serves the page of the inspector, on this computer alone. */
function serve(inspector: Inspector, client: ChatClient): void {
  const handler = inspectorHandler(inspector, { client });
  const server = createServer((request, response) => {
    void toNodeHandler(handler)(request, response);
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    line(`\nInspector: http://127.0.0.1:${port}/?token=${handler.token}  (Ctrl-C ends it)`);
  });
  process.once('SIGINT', () => {
    server.close();
    server.closeAllConnections();
  });
}

interface Settings {
  readonly tracer?: RecordingTracer | undefined;
  readonly inspector?: Inspector | undefined;
}

async function main(question: string, { tracer, inspector }: Settings): Promise<void> {
  const model = await chooseModel();
  const client = ChatClient.builder(model)
    .defaultTools(findFlight, findHotel, tripCost)
    .defaultAdvisors(
      watcher('turn-watcher', AdvisorOrder.GUARD),
      watcher('iteration-watcher', AdvisorOrder.LOGGER),
    )
    .defaultAdvisors(...(tracer ? [new ObservabilityAdvisor({ tracer })] : []))
    .defaultAdvisors(...(inspector ? [inspector] : []))
    .build();

  line(`The chain\n${client.explain().toString()}\n`);
  line(
    `Model:    ${model.defaultOptions.model}${model instanceof OfflineChatModel ? ' (set OPENAI_API_KEY for a real one)' : ''}`,
  );
  line(`Question: ${question}\n`);
  const events = client.prompt(question).stream().events();
  await new Promise<void>(
    (resolve, reject) => void events.subscribe({ next: show, error: reject, complete: resolve }),
  ).finally(() => {
    if (tracer) line(`\nThe trace\n${describeRun(tracer.spans)}`);
    if (inspector) serve(inspector, client);
  });
}

const words = process.argv.slice(2);
const question = words.filter((word) => word !== '--trace' && word !== '--inspect').join(' ');
const tracer = words.includes('--trace') ? new RecordingTracer() : undefined;
const inspector = words.includes('--inspect') ? new Inspector() : undefined;

main(question.trim() || QUESTION, { tracer, inspector }).catch((error: unknown) => {
  console.error(`Error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
