import { z } from 'zod';
import { ChatClient, defineTool } from '../../src/index.js';
import { OfflineChatModel } from '../../src/testing/index.js';

const weather = defineTool({
  name: 'get_weather',
  description: 'The weather in a city right now.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, temperature: 24 }),
});
// a real one: new OpenAIChatModel({ model: 'gpt-5-mini' }) of advisor-chain/openai, key from OPENAI_API_KEY
const client = ChatClient.create(new OfflineChatModel());

const stream = client.prompt('What is the weather in Rome?').tools(weather).stream();
for await (const text of stream) process.stdout.write(text);
