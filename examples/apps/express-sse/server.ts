// Answers as server-sent events, by Express: `npm run app:express`, then http://127.0.0.1:3001
import { ChatClient, defineTool, type ChatModel } from 'advisor-chain';
import { invalidInput, readJsonInput, toNodeHandler, toResponse } from 'advisor-chain/http';
import { OpenAIChatModel } from 'advisor-chain/openai';
import { OfflineChatModel } from 'advisor-chain/testing';
import { InMemoryTurnLog, TurnStreams } from 'advisor-chain/turn-log';
import express from 'express';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const getWeather = defineTool({
  name: 'get_weather',
  description: 'The weather of the next days in a city.',
  effect: 'read',
  input: z.object({ city: z.string() }),
  execute: ({ city }) =>
    `${city}: today sunny with 24 degrees, tomorrow a few clouds, then a day of rain.`,
});

function chooseModel(): ChatModel {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL } = process.env;
  if (!apiKey) return new OfflineChatModel({ delay: 60 }); // slow enough to see a stream
  const { OPENAI_MODEL: model = 'gpt-5-mini' } = process.env;
  return new OpenAIChatModel({ model, apiKey, ...(baseURL && { baseURL }) });
}

const client = ChatClient.builder(chooseModel()).defaultTools(getWeather).build();

const streams = new TurnStreams({ log: new InMemoryTurnLog() }); // a database, for several processes

/** Starts a run. It goes to its end, also if the page is closed; its id is all that a page needs. */
async function ask(request: Request): Promise<Response> {
  const { question } = await readJsonInput(request);
  if (typeof question !== 'string' || !question.trim()) throw invalidInput('Ask a question.');
  const id = crypto.randomUUID();
  await streams.start(id, client.prompt(question).stream());
  return Response.json({ id }, { status: 201 });
}

/** The events of a run, after the one that an `EventSource` names when it connects again. */
async function events({ url, headers, signal }: Request): Promise<Response> {
  const lastEventId = headers.get('last-event-id');
  const run = await streams.resume(idIn(url), { lastEventId });
  return run ? toResponse(run, { format: 'sse', signal }) : new Response(null, { status: 204 });
}

async function stop({ url }: Request): Promise<Response> {
  await streams.stop(idIn(url));
  return new Response(null, { status: 204 });
}

const idIn = (url: string): string => new URL(url).pathname.split('/')[2] ?? '';

const app = express();
app.post('/runs', toNodeHandler(ask));
app.get('/runs/:id', toNodeHandler(events));
app.post('/runs/:id/stop', toNodeHandler(stop));
app.get('/', (_request, response) =>
  response.sendFile(fileURLToPath(new URL('page.html', import.meta.url))),
);
const server = app.listen(Number(process.env['PORT'] ?? 3001), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
