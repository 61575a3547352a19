// An application that any JavaScript runtime can run: a turn with a tool by every wire, the bridge to AI SDK models and MCP, called and
// streamed. It imports nothing of a runtime, so that what it needs is what the package needs.
import { ChatClient, defineTool } from 'advisor-chain';
import { AiSdkChatModel } from 'advisor-chain/ai-sdk';
import { AnthropicChatModel } from 'advisor-chain/anthropic';
import { CohereChatModel } from 'advisor-chain/cohere';
import { GoogleChatModel } from 'advisor-chain/google';
import { toResponse } from 'advisor-chain/http';
import { mcpTools, serveMcp } from 'advisor-chain/mcp';
import { OllamaChatModel } from 'advisor-chain/ollama';
import { OpenAIChatModel, OpenAIResponsesModel } from 'advisor-chain/openai';
import { InMemoryTransport } from '@modelcontextprotocol/client';

const CLASSES = {
  completions: OpenAIChatModel,
  responses: OpenAIResponsesModel,
  messages: AnthropicChatModel,
  generateContent: GoogleChatModel,
  cohere: CohereChatModel,
  ollama: OllamaChatModel,
};
const QUESTION = 'How is the weather in Zürich?';
const ANSWER = 'In Zürich it is sunny, 24 °C.';

const weather = defineTool({
  name: 'get_weather',
  description: 'The weather of a city.',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: ({ city }) => `${String(city)}: sunny, 24 °C`,
});

/** A model in the form of the AI SDK, which asks for the tool and then answers. */
const languageModel = (tool) => {
  const usage = { inputTokens: { total: 9 }, outputTokens: { total: 7 } };
  const answer = ({ prompt }) => {
    const isLast = JSON.stringify(prompt).includes('24 °C');
    const input = JSON.stringify({ city: 'Zürich' });
    const call = { type: 'tool-call', toolCallId: 'call_1', toolName: tool, input };
    const reason = isLast ? 'stop' : 'tool-calls';
    return { isLast, call, finish: { usage, finishReason: { unified: reason, raw: reason } } };
  };
  return {
    specificationVersion: 'v3',
    provider: 'local',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: async (options) => {
      const { isLast, call, finish } = answer(options);
      return { content: [isLast ? { type: 'text', text: ANSWER } : call], warnings: [], ...finish };
    },
    doStream: async (options) => {
      const { isLast, call, finish } = answer(options);
      const text = [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: ANSWER },
        { type: 'text-end', id: 't' },
      ];
      const parts = [...(isLast ? text : [call]), { type: 'finish', ...finish }];
      const stream = new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
};

async function runTurns(name, model, tools) {
  const spec = ChatClient.create(model).prompt(QUESTION).tools(tools);
  const called = await spec.call().content();
  let streamed = '';
  for await (const text of spec.stream()) streamed += text;
  for (const [mode, text] of Object.entries({ called, streamed }))
    if (text !== ANSWER) throw new Error(`${name}, ${mode}: ${text}`);
}

async function runMcp() {
  const transport = () => {
    const [client, server] = InMemoryTransport.createLinkedPair();
    void serveMcp([weather]).then((served) => served.connect(server));
    return client;
  };
  const mcp = mcpTools({ servers: { near: { transport } } });
  await runTurns('mcp', new AiSdkChatModel({ model: languageModel('near_get_weather') }), mcp);
  await mcp.close();
}

/** A response as the runtime serves it: read to its end, and left by its client. */
async function runHttp() {
  const model = new AiSdkChatModel({ model: languageModel('get_weather') });
  const stream = () => ChatClient.create(model).prompt(QUESTION).tools(weather).stream();
  const text = await (await toResponse(stream(), { format: 'text' })).text();
  if (text !== ANSWER) throw new Error(`http, text: ${text}`);
  const events = await (await toResponse(stream(), { format: 'sse' })).text();
  if (!/"text-delta".*\n\ndata: .*"response".*\n\n$/.test(events))
    throw new Error(`http, sse: ${events}`);
  await (await toResponse(stream(), { format: 'ndjson' })).body.cancel();
  const left = await toResponse(stream(), { format: 'sse', signal: AbortSignal.abort() });
  if (left.status !== 499) throw new Error(`http, left: ${left.status}`);
}

/**
 * Runs all turns; resolves to the names of what ran, and rejects with the first that went wrong.
 * @param address the server in `server.mjs`
 */
export async function runApplication(address) {
  for (const [wire, Model] of Object.entries(CLASSES)) {
    const model = new Model({ model: 'm', apiKey: 'key', baseURL: `${address}/${wire}` });
    await runTurns(wire, model, weather);
  }
  await runTurns('ai-sdk', new AiSdkChatModel({ model: languageModel('get_weather') }), weather);
  await runMcp();
  await runHttp();
  return [...Object.keys(CLASSES), 'ai-sdk', 'mcp', 'http'];
}
