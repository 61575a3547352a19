// The chain of the app: tools, an approval, a memory. A real model takes the place of the offline one when its key is set.
import {
  ApprovalAdvisor,
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  InMemoryKeyValueStore,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type ChatModel,
} from 'advisor-chain';
import { OpenAIChatModel } from 'advisor-chain/openai';
import { OfflineChatModel } from 'advisor-chain/testing';
import { z } from 'zod';

const getWeather = defineTool({
  name: 'get_weather',
  description: 'The weather of the next days in a city.',
  effect: 'read',
  input: z.object({ city: z.string() }),
  execute: ({ city }) =>
    `${city}: today sunny with 24 degrees, tomorrow a few clouds and 22 degrees, then a day of rain with 17 degrees.`,
});

/** Has an effect, so a person decides on each call. */
const sendNote = defineTool({
  name: 'send_note',
  description: 'Sends a note to a colleague.',
  effect: 'write',
  input: z.object({ to: z.string(), text: z.string() }),
  execute: ({ to }) => `The note to ${to} is sent.`,
});

/** Has no `execute`: the page runs it. */
const getTimeZone = defineTool({
  name: 'get_time_zone',
  description: 'The time zone of the browser.',
  effect: 'read',
  output: z.object({ timeZone: z.string() }),
});

function chooseModel(): ChatModel {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL } = process.env;
  if (!apiKey) return new OfflineChatModel({ delay: 60 }); // slow enough to see a stream
  const { OPENAI_MODEL: model = 'gpt-5-mini' } = process.env;
  return new OpenAIChatModel({ model, apiKey, ...(baseURL && { baseURL }) });
}

// databases in a real application, shared by all processes
const chatMemory = new MessageWindowChatMemory({ repository: new InMemoryChatMemoryRepository() });
const store = new InMemoryKeyValueStore();
const secrets = [process.env['PAUSE_SECRET'] ?? crypto.randomUUID()];

export const client = ChatClient.builder(chooseModel())
  .defaultSystem('You help in an office. Answer in a few sentences.')
  .defaultTools(getWeather, sendNote, getTimeZone)
  .defaultAdvisors(
    new MessageChatMemoryAdvisor({ chatMemory }),
    new ApprovalAdvisor({ pause: { secrets, store } }),
  )
  .build();
