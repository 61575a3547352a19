// The Responses API: reasoning that nothing stores, a tool and citations. With OPENAI_API_KEY it asks OpenAI, without one the answers below.
import { z } from 'zod';
import { ChatClient, defineTool } from '../src/index.js';
import { OpenAIResponsesModel } from '../src/models/openai/index.js';

const { OPENAI_API_KEY: apiKey, OPENAI_MODEL: name = 'gpt-5-mini' } = process.env;

const reasoning = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'I need the weather in Rome.' }],
  encrypted_content: 'b3BhcXVl',
};
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Rome"}',
};
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [
    {
      type: 'output_text',
      text: 'It is 24 °C in Rome.',
      annotations: [{ type: 'url_citation', url: 'https://weather.example/rome' }],
    },
  ],
};

/** Answers as the API does; the second request returns the items of the first answer. */
const offline: typeof fetch = async (_address, request) => {
  const { input } = JSON.parse(request?.body as string) as { input: { type: string }[] };
  const returned = input.slice(1).map(({ type }) => type);
  if (returned.length > 0) console.log(`returned:  ${returned.join(', ')}`);
  return Response.json({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: name,
    store: false,
    output: returned.length > 0 ? [message] : [reasoning, call],
    usage: { input_tokens: 20, output_tokens: 40, total_tokens: 60 },
  });
};

const model = new OpenAIResponsesModel({
  model: name,
  apiKey: apiKey ?? 'none',
  fetch: apiKey ? undefined : offline,
  reasoningEffort: 'low',
  extraBody: { store: false, reasoning: { summary: 'auto' } },
});

const weather = defineTool({
  name: 'get_weather',
  description: 'The weather in a city right now.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, temperature: 24, unit: 'C' }),
});

const { chatResponse: response, steps } = await ChatClient.create(model)
  .prompt('How warm is it in Rome?')
  .tools(weather)
  .call()
  .chatClientResponse();

for (const { response: each } of steps)
  if (each.message.reasoning) console.log(`reasoning: ${each.message.reasoning}`);
console.log(`answer:    ${response.text}`);
for (const { url } of response.citations) console.log(`source:    ${url}`);
