// Argument augmentation: the model gives a reason for each call, the application reads it, the tool does not see it.
import { z } from 'zod';
import { augmentTools, ChatClient, defineTool, textOf } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const weather = defineTool({
  name: 'get_weather',
  description: 'The weather in a city right now.',
  input: z.object({ city: z.string() }),
  execute: (args) => `the tool got ${JSON.stringify(args)}`,
});

const thinking = z.object({
  reason: z.string().describe('Why you call this tool, in one sentence'),
  confidence: z.number().min(0).max(1).describe('How sure you are that it is the right tool'),
});

const tools = augmentTools([weather], thinking, ({ call, arguments: { reason, confidence } }) => {
  console.log(`${call.name}: ${reason} (${confidence * 100} % sure)`);
});

const model = new ScriptedChatModel(({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === 'tool') return textOf(last.content);
  const args = { city: 'Oslo', reason: 'They go there tomorrow.', confidence: 0.9 };
  return { toolCalls: [{ name: 'get_weather', arguments: args }] };
});

console.log(
  await ChatClient.create(model)
    .prompt('What should I wear in Oslo?')
    .tools(tools)
    .call()
    .content(),
);
