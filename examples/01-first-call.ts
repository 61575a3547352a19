// A first call, a template, and an answer with a type.
import { z } from 'zod';
import { ChatClient } from '../src/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

// Answers offline, in this order. A real one: new OpenAIChatModel({ model: 'gpt-5-mini' }) from 'advisor-chain/openai'.
const model = new ScriptedChatModel([
  'Rome.',
  '```json\n{"name": "Milan", "population": 1371000}\n```',
]);

const client = ChatClient.builder(model)
  .defaultSystem('You are a geographer. Be brief.')
  .defaultOptions({ temperature: 0 })
  .build();

const capital = await client.prompt('What is the capital of Italy?').call().content();
console.log(`content: ${capital}`);

const City = z.object({ name: z.string(), population: z.number().int() });
const city = await client
  .prompt()
  .user('Describe the second city of {country}.', { country: 'Italy' })
  .call()
  .entity(City);
console.log(`entity:  ${city.name} has ${city.population.toLocaleString('en')} people`);

console.log('\nThe model was asked:');
for (const { messages } of model.prompts) console.log(messages);
