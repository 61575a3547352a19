// Gemini by its own API: a tool, reasoning, and a thought signature that goes back. With GOOGLE_API_KEY set it asks Google.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { ChatClient, defineTool } from '../src/index.js';
import { GoogleChatModel } from '../src/models/google/index.js';

interface Part {
  readonly thoughtSignature?: string;
  readonly functionResponse?: { readonly response: { readonly output: string } };
}

/** A server in place of Google's: asks for the tool, then repeats its result. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { contents } = (await json(request)) as { contents: readonly { parts: readonly Part[] }[] };
  const sent = contents.flatMap(({ parts }) => parts);
  const result = sent.find(({ functionResponse }) => functionResponse)?.functionResponse;
  const signed = sent.filter(({ thoughtSignature }) => thoughtSignature).length;
  if (result) console.log(`server: the result came with ${signed} signature`);
  const events = result
    ? [[{ text: 'In Rome it is ' }], [{ text: `${result.response.output}.` }]]
    : [
        [{ text: 'I need the weather.', thought: true }],
        [
          {
            functionCall: { name: 'get_weather', args: { city: 'Rome' } },
            thoughtSignature: 'c2lnbmF0dXJl',
          },
        ],
      ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [at, parts] of events.entries()) {
    const finishReason = at === events.length - 1 ? 'STOP' : undefined;
    const candidates = [{ content: { role: 'model', parts }, finishReason }];
    response.write(`data: ${JSON.stringify({ candidates })}\r\n\r\n`);
  }
  response.end();
}
const server = createServer((request, response) => void answer(request, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const isReal = Boolean(process.env['GOOGLE_API_KEY']);
const model = new GoogleChatModel({
  model: process.env['GOOGLE_MODEL'] ?? 'gemini-2.5-flash',
  extraBody: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
  ...(!isReal && {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'offline',
  }),
});

const getWeather = defineTool({
  name: 'get_weather',
  description: 'The weather of a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => (city === 'Rome' ? 'sunny, 24 °C' : 'cloudy, 9 °C'),
});

const stream = ChatClient.create(model)
  .prompt('How is the weather in Rome?')
  .tools(getWeather)
  .stream();
let text = '';
for await (const event of stream.events()) {
  if (event.type === 'reasoning-delta') console.log(`thinks: ${event.text}`);
  if (event.type === 'tool-call')
    console.log(`calls:  ${event.call.name}(${event.call.arguments})`);
  if (event.type === 'text-delta') text += event.text;
}
console.log(`answer: ${text}`);
server.close();
