// The Messages API: thinking, a tool and cached tokens. With ANTHROPIC_API_KEY it asks Anthropic, without one the answers below.
import { z } from 'zod';
import { ChatClient, defineTool } from '../src/index.js';
import { AnthropicChatModel } from '../src/models/anthropic/index.js';

const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_MODEL: name = 'claude-sonnet-4-5' } = process.env;

const answers = [
  [
    { type: 'thinking', thinking: 'I need the weather in Rome.', signature: 'c2lnbmF0dXJl' },
    { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Rome' } },
  ],
  [{ type: 'text', text: 'It is 24 °C in Rome.' }],
];

/** Answers as the API does; the second request returns the blocks of the first answer. */
const offline: typeof fetch = async (_address, request) => {
  const body = JSON.parse(request?.body as string) as { messages: { content: object[] }[] };
  const content = answers[body.messages.length > 1 ? 1 : 0];
  const returned = body.messages[1]?.content.map((block) => (block as { type: string }).type);
  if (returned) console.log(`returned: ${returned.join(', ')}`);
  return Response.json({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: name,
    content,
    stop_reason: returned ? 'end_turn' : 'tool_use',
    usage: { input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 40 },
  });
};

const model = new AnthropicChatModel({
  model: name,
  apiKey: apiKey ?? 'none',
  fetch: apiKey ? undefined : offline,
  maxTokens: 4_000,
  extraBody: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
  promptCache: { tools: '5m', messages: '5m' },
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
  if (each.message.reasoning) console.log(`thinking: ${each.message.reasoning}`);
console.log(`answer:   ${response.text}`);
const { inputTokens = 0, cachedInputTokens = 0 } = response.usage ?? {};
console.log(`input:    ${inputTokens} tokens, ${cachedInputTokens} of them from the cache`);
