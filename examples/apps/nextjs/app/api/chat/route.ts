import {
  ChatClient,
  defineTool,
  InMemoryChatMemoryRepository,
  MessageChatMemoryAdvisor,
  MessageWindowChatMemory,
  type ChatModel,
} from 'advisor-chain';
import { errorResponse, invalidInput, readJsonInput, toHttpError } from 'advisor-chain/http';
import { OpenAIChatModel } from 'advisor-chain/openai';
import { OfflineChatModel } from 'advisor-chain/testing';
import { fromUIMessages, toUIMessageStreamResponse } from 'advisor-chain/ui';
import { z } from 'zod';

const getWeather = defineTool({
  name: 'get_weather',
  description: 'The weather of the next days in a city.',
  effect: 'read',
  input: z.object({ city: z.string() }),
  execute: ({ city }) =>
    `${city}: today sunny with 24 degrees, tomorrow a few clouds, then a day of rain.`,
});

function chooseModel(): ChatModel {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL } = process.env;
  if (!apiKey) return new OfflineChatModel({ delay: 60 }); // slow enough to see a stream
  const { OPENAI_MODEL: model = 'gpt-5-mini' } = process.env;
  return new OpenAIChatModel({ model, apiKey, ...(baseURL && { baseURL }) });
}

const repository = new InMemoryChatMemoryRepository(); // a database
const chatMemory = new MessageWindowChatMemory({ repository });
const client = ChatClient.builder(chooseModel())
  .defaultTools(getWeather)
  .defaultAdvisors(new MessageChatMemoryAdvisor({ chatMemory }))
  .build();

/** The conversation belongs to the cookie of the browser; a session of your application takes its place. */
function conversationOf(request: Request): string {
  const cookies = request.headers.get('cookie') ?? '';
  return /(?:^|; )conversation=([\w-]+)/.exec(cookies)?.[1] ?? crypto.randomUUID();
}

export async function POST(request: Request): Promise<Response> {
  try {
    const { message } = fromUIMessages(await readJsonInput(request));
    if (!message) throw invalidInput('A message is needed.');
    const conversation = conversationOf(request);
    const stream = client.prompt().messages(message).conversation(conversation).stream();
    return await toUIMessageStreamResponse(stream, {
      signal: request.signal,
      headers: {
        'set-cookie': `conversation=${conversation}; Path=/; HttpOnly; SameSite=Strict`,
      },
    });
  } catch (error) {
    return errorResponse(toHttpError(error));
  }
}
