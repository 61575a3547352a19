// Tools: the model asks for two, both run at the same time, and their results go back to the model. The same turn, streamed.
import { z } from 'zod';
import { ChatClient, defineTool, textOf } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

const weather = defineTool({
  name: 'get_weather',
  description: 'The weather in a city right now.',
  input: z.object({ city: z.string(), unit: z.enum(['C', 'F']).default('C') }),
  execute: async ({ city, unit }, { progress }) => {
    progress(`asking the station of ${city}`);
    return { city, temperature: city === 'Rome' ? 24 : 9, unit };
  },
});

// asks for both cities first, and answers when it has their weather
const model = new ScriptedChatModel(({ messages }) => {
  if (messages.at(-1)?.role === 'tool')
    return { deltas: ['Rome is warmer: ', '24 °C against 9 °C in Oslo.'] };
  return {
    toolCalls: ['Rome', 'Oslo'].map((city) => ({ name: 'get_weather', arguments: { city } })),
  };
});

const turn = ChatClient.create(model)
  .prompt('Where is it warmer, in Rome or in Oslo?')
  .tools(weather);

console.log(`call: ${await turn.call().content()}\n`);

console.log('stream:');
turn
  .stream()
  .events()
  .subscribe((event) => {
    if (event.type === 'tool-call')
      console.log(`  ${event.type}  ${event.call.name}(${event.call.arguments})`);
    else if (event.type === 'tool-progress') console.log(`  ${event.type}  ${String(event.data)}`);
    else if (event.type === 'tool-result')
      console.log(`  ${event.type}  ${textOf(event.result.content)}`);
    else if (event.type === 'text-delta') console.log(`  ${event.type}  ${event.text}`);
    else if (event.type === 'response') console.log(`  ${event.type}  ${event.response.text}`);
    else console.log(`  ${event.type}`);
  });
