import { z } from 'zod';
import { ChatClient, defineTool } from '../../src/index.js';
import { OpenAIChatModel } from '../../src/models/openai/index.js';

const weather = defineTool({
  name: 'get_weather',
  description: 'The weather in a city right now.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, temperature: 24 }),
});
const client = ChatClient.create(new OpenAIChatModel({ model: 'gpt-5-mini' }));

const stream = client.prompt('Is it warm in Rome?').tools(weather).stream();
for await (const text of stream) process.stdout.write(text);
