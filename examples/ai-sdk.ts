// A provider of the AI SDK as the model of a chain, and a chain as a model of the AI SDK.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatClient, defineTool } from '../src/index.js';
import { AiSdkChatModel, asLanguageModel } from '../src/models/ai-sdk/index.js';
import { serveOffline } from '../src/testing/index.js';

// Answers offline. A real one: set BASE_URL, MODEL and API_KEY, or take another provider's package.
const offline = process.env['BASE_URL'] === undefined ? await serveOffline() : undefined;
const provider = createOpenAICompatible({
  name: 'local',
  baseURL: process.env['BASE_URL'] ?? offline?.baseURL ?? '',
  apiKey: process.env['API_KEY'] ?? 'none',
});
const model = new AiSdkChatModel({ model: provider(process.env['MODEL'] ?? 'offline') });

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather in a city',
  input: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
  execute: () => 'sunny, 24 °C',
});
const client = ChatClient.builder(model).defaultTools(weather).build();

const response = await client.prompt('What is the weather in Rome?').call().chatClientResponse();
for (const { response: step } of response.steps)
  for (const { name, arguments: text } of step.message.toolCalls ?? [])
    console.log(`call:   ${name}(${text})`);
console.log(`answer: ${response.text}`);

// generateText({ model: languageModel, … }) of the package `ai` calls the model in this way
const languageModel = asLanguageModel(client);
const { content } = await languageModel.doGenerate({
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'What is the weather in Oslo?' }] }],
});
console.log('AI SDK:', content);

await offline?.close();
