// Foreign tools: a catalogue with schemas that are not valid JSON Schema, offered by a provider per request.
import { ChatClient, defineTool, defineToolProvider, prefixTools, textOf } from '../src/index.js';
import { compatibilityReport, normalizeSchema } from '../src/core/json-schema/index.js';
import { ScriptedChatModel } from '../src/testing/index.js';

// as catalogues publish them: `dict`, `float` and `tuple` are not types of JSON Schema
const catalogue = [
  {
    name: 'forecast',
    description: 'The weather of the next days.',
    inputSchema: {
      type: 'dict',
      properties: {
        place: { type: 'tuple', items: { type: 'float' } },
        days: { type: 'integer', default: 3 },
      },
      required: ['place'],
    },
  },
];

console.log(String(compatibilityReport(catalogue)));

const weather = defineToolProvider({
  name: 'weather-service',
  timeout: 5_000,
  tools: ({ toolContext }) =>
    catalogue.map(({ name, description, inputSchema }) =>
      defineTool({
        name,
        description,
        input: normalizeSchema(inputSchema, name).schema,
        execute: ({ place, days = 3 }) =>
          `${String(days)} days of sun at ${String(place)} for ${String(toolContext['customer'])}`,
      }),
    ),
});

// the first place does not fit the schema: the model gets the reason and tries again
const places = ['Rome', [41.9, 12.5]];
const model = new ScriptedChatModel(({ messages }, index) => {
  const last = messages.at(-1);
  if (last?.role === 'tool') console.log(`the model reads: ${textOf(last.content)}`);
  return index < 2
    ? { toolCalls: [{ name: 'weather_forecast', arguments: { place: places[index] } }] }
    : 'Take sunglasses.';
});

const answer = await ChatClient.create(model)
  .prompt('How will the weather be in Rome?')
  .tools(prefixTools(weather, 'weather_'))
  .toolContext({ customer: 'Anna' })
  .call()
  .content();

console.log(answer);
