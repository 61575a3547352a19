// Answers as server-sent events, by Express: `npm run app:express`, then http://127.0.0.1:3001
import { ChatClient, defineTool, type ChatModel } from 'advisor-chain';
import { invalidInput, toNodeHandler, toResponse } from 'advisor-chain/http';
import { OpenAIChatModel } from 'advisor-chain/openai';
import { OfflineChatModel } from 'advisor-chain/testing';
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

async function answer({ url, signal }: Request): Promise<Response> {
  const question = new URL(url).searchParams.get('question')?.trim();
  if (!question) throw invalidInput('A question is needed.');
  return toResponse(client.prompt(question).stream(), { format: 'sse', signal });
}

const app = express();
app.get('/answer', toNodeHandler(answer));
app.get('/', (_request, response) =>
  response.sendFile(fileURLToPath(new URL('page.html', import.meta.url))),
);
const server = app.listen(Number(process.env['PORT'] ?? 3001), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
