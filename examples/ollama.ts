// Ollama by its own API: a model that thinks, a tool and the times of the server. With OLLAMA_MODEL, such as qwen3:8b, it asks the server of
// OLLAMA_BASE_URL or of this machine, without it the server below.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { ChatClient, defineTool } from '../src/index.js';
import { OllamaChatModel } from '../src/models/ollama/index.js';

const { OLLAMA_MODEL: name, OLLAMA_BASE_URL: baseURL } = process.env;

interface Request {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly think: boolean;
  readonly options: { readonly num_ctx: number };
}

/** A server in place of Ollama's: asks for the tool, then repeats its result. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { messages, think, options } = (await json(request)) as Request;
  const result = messages.find(({ role }) => role === 'tool')?.content;
  console.log(`server: think ${think}, context of ${options.num_ctx} tokens`);
  const call = { function: { name: 'get_weather', arguments: { city: 'Rome' } } };
  const pieces = result
    ? [{ content: 'In Rome it is ' }, { content: `${result}.` }]
    : [
        { content: '', thinking: 'I need the weather.' },
        { content: '', tool_calls: [call] },
      ];
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  for (const piece of pieces)
    response.write(
      `${JSON.stringify({ model: 'm', message: { role: 'assistant', ...piece }, done: false })}\n`,
    );
  const end = { done: true, done_reason: 'stop', prompt_eval_count: 30, eval_count: 12 };
  const message = { role: 'assistant', content: '' };
  response.end(`${JSON.stringify({ model: 'm', message, ...end, eval_duration: 400_000_000 })}\n`);
}
const server = createServer((request, response) => void answer(request, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const model = new OllamaChatModel({
  model: name ?? 'offline',
  baseURL: name ? baseURL : `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  think: true,
  numCtx: 8_192,
  keepAlive: '10m',
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
  if (event.type === 'response') {
    const seconds = Number(event.response.metadata?.['eval_duration']) / 1e9;
    console.log(`answer: ${text}`);
    console.log(`which took ${seconds} s to write`);
  }
}
server.close();
