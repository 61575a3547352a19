import { createServer } from 'node:http';
import { setTimeout as setTimeoutAsync } from 'node:timers/promises';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { toNodeHandler } from '../../../src/bridges/http/index.js';
import { serveOpenAI } from '../../../src/bridges/serve/index.js';
import { ChatClient, defineTool, textOf } from '../../../src/index.js';
import { OpenAIChatModel } from '../../../src/models/openai/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { listen, type StartedServer } from '../../support/http-servers.js';

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;
const cityInput = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const; // prettier-ignore
const own = defineTool({ name: 'own', execute: () => 'own result' });

/** Calls a tool of the chain, then two of the caller, then repeats their results. */
const withTools: Script = ({ messages }) => {
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message] : []));
  if (results.length === 0) return { toolCalls: [{ name: 'own', arguments: '{}' }], usage };
  if (results.some(({ toolName }) => toolName === 'weather'))
    return { text: results.map(({ content }) => textOf(content)).join(), usage };
  const calls = ['Rome', 'Oslo'].map((city) => ({ name: 'weather', arguments: { city } }));
  return { toolCalls: calls, usage };
};

describe('clients of other libraries against an OpenAI endpoint', function () {
  this.timeout(30_000);
  let server: StartedServer | undefined;
  afterEach(() => server?.close());

  async function start(script: Script): Promise<string> {
    const client = ChatClient.builder(new ScriptedChatModel(script)).defaultTools(own).build();
    const answer = serveOpenAI({
      clients: { chat: client },
      authorize: (key) => key === 'sk-test',
    });
    server = await listen(
      createServer((request, response) => void toNodeHandler(answer)(request, response)),
    );
    return `http://127.0.0.1:${server.port}/v1`;
  }

  describe('the AI SDK', () => {
    const modelAt = (baseURL: string, apiKey = 'sk-test') =>
      createOpenAICompatible({
        name: 'chain',
        baseURL,
        apiKey,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })('chat');
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>(cityInput),
      execute: ({ city }) => `${city}: 20`,
    });

    it('generates text', async () => {
      const model = modelAt(await start([{ text: 'Hello.', usage }]));
      const result = await generateText({ model, prompt: 'Q' });
      expect([result.text, result.finishReason, result.usage.totalTokens]).to.deep.equal(['Hello.', 'stop', 5]); // prettier-ignore
    });

    it('streams text', async () => {
      const result = streamText({ model: modelAt(await start([{ text: 'Hello there.', usage }])), prompt: 'Q' }); // prettier-ignore
      let text = '';
      for await (const delta of result.textStream) text += delta;
      expect([text, await result.finishReason, (await result.usage).totalTokens]).to.deep.equal(['Hello there.', 'stop', 5]); // prettier-ignore
    });

    it('streams reasoning before the text', async () => {
      const model = modelAt(await start([{ reasoning: 'Hm, well.', text: 'Hello there.', usage }]));
      let reasoning = '';
      let before = '';
      for await (const part of streamText({ model, prompt: 'Q' }).fullStream) {
        if (part.type === 'reasoning-delta') reasoning += part.text;
        if (part.type === 'text-start') before = reasoning;
      }
      expect([before, reasoning]).to.deep.equal(['Hm, well.', 'Hm, well.']);
    });

    it("runs its own tools beside the chain's, in parallel", async () => {
      const ask = { prompt: 'Q', tools: { weather }, stopWhen: stepCountIs(3) };
      const called = await generateText({ ...ask, model: modelAt(await start(withTools)) });
      expect(called.text).to.equal('Rome: 20,Oslo: 20');
      await server?.close();
      const streamed = streamText({ ...ask, model: modelAt(await start(withTools)) });
      await streamed.consumeStream();
      expect(await streamed.text).to.equal('Rome: 20,Oslo: 20');
      const [first] = await streamed.steps;
      expect(first?.toolCalls.map(({ toolName }) => toolName)).to.deep.equal([
        'weather',
        'weather',
      ]);
    });

    it('generates an object', async () => {
      const model = modelAt(await start([{ text: '{"n":1}', usage }]));
      const output = Output.object({ schema: jsonSchema<{ n: number }>(schema) });
      expect((await generateText({ model, prompt: 'Q', output })).output).to.deep.equal({ n: 1 });
    });

    it('reports a wrong key', async () => {
      const model = modelAt(await start([]), 'sk-wrong');
      const error: unknown = await generateText({ model, prompt: 'Q' }).catch((e: unknown) => e);
      expect(error).to.include({ name: 'AI_APICallError', statusCode: 401, message: 'The API key is not valid.' }); // prettier-ignore
    });
  });

  describe('ChatOpenAI of LangChain', () => {
    const chatAt = (baseURL: string, apiKey = 'sk-test') =>
      new ChatOpenAI({ model: 'chat', apiKey, maxRetries: 0, configuration: { baseURL } });
    const weather = {
      type: 'function',
      function: { name: 'weather', description: 'Weather', parameters: cityInput },
    } as const;

    it('invokes and streams', async () => {
      const chat = chatAt(await start(() => ({ text: 'Hello there.', usage })));
      const answer = await chat.invoke('Q');
      expect([
        answer.text,
        (answer.usage_metadata as { total_tokens?: number } | undefined)?.total_tokens,
      ]).to.deep.equal(['Hello there.', 5]);
      let text = '';
      for await (const chunk of await chat.stream('Q')) text += chunk.text;
      expect(text).to.equal('Hello there.');
    });

    it('calls its tools and sends their results', async () => {
      const chat = chatAt(await start(withTools)).bindTools([weather]);
      const question = new HumanMessage('Q');
      const asked = await chat.invoke([question]);
      expect(asked.tool_calls?.map(({ args }) => args as unknown)).to.deep.equal([{ city: 'Rome' }, { city: 'Oslo' }]); // prettier-ignore
      const results = (asked.tool_calls ?? []).map(({ id = '', args }) => new ToolMessage({ tool_call_id: id, content: `${String(args['city'])}: 20` })); // prettier-ignore
      expect((await chat.invoke([question, asked, ...results])).text).to.equal('Rome: 20,Oslo: 20');
    });

    it('gets structured output', async () => {
      const chat = chatAt(await start([{ text: '{"n":1}', usage }]));
      const structured = chat.withStructuredOutput(
        { title: 'number', ...schema },
        { method: 'jsonSchema' },
      );
      expect(await structured.invoke('Q')).to.deep.equal({ n: 1 });
    });

    it('reports a wrong key', async () => {
      const error: unknown = await chatAt(await start([]), 'sk-wrong')
        .invoke('Q')
        .catch((e: unknown) => e);
      expect(error).to.include({ status: 401, code: 'invalid_api_key' });
    });
  });

  it('leave at random, and no request to the model stays open', async () => {
    let open = 0;
    let asked = 0;
    const provider = await listen(
      createServer((_request, response) => {
        open++;
        asked++;
        response.on('close', () => open--);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const chunk = { choices: [{ index: 0, delta: { content: 'word ' } }] };
        const timer = setInterval(() => response.write(`data: ${JSON.stringify(chunk)}\n\n`), 2);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const model = new OpenAIChatModel({
      model: 'm',
      apiKey: 'sk-test',
      baseURL: `http://127.0.0.1:${provider.port}/v1`,
    });
    const answer = serveOpenAI({ clients: ChatClient.create(model) });
    server = await listen(
      createServer((request, response) => void toNodeHandler(answer)(request, response)),
    );
    const openai = new OpenAI({
      baseURL: `http://127.0.0.1:${server.port}/v1`,
      apiKey: 'none',
      maxRetries: 0,
    });
    const leave = async (at: number): Promise<void> => {
      const leaving = new AbortController();
      setTimeout(() => leaving.abort(), 50 + ((at * 37) % 300));
      const body = { model: 'm', messages: [{ role: 'user' as const, content: 'Q' }] };
      const options = { signal: leaving.signal };
      try {
        if (at % 2 === 0) await openai.chat.completions.create(body, options);
        const stream = await openai.chat.completions.create({ ...body, stream: true }, options);
        for await (const _chunk of stream) if (at % 3 === 0) break;
      } catch (error) {
        expect(error).to.be.instanceOf(OpenAI.APIUserAbortError);
      }
    };

    // on a busy machine many leave before the model is asked
    for (let round = 0; round < 10 || asked <= 20; round++)
      await Promise.all(Array.from({ length: 20 }, (_, at) => leave(20 * round + at)));

    const until = performance.now() + 10_000;
    while (open > 0 && performance.now() < until) await setTimeoutAsync(10);
    console.log(`      ${asked} requests to the model`);
    expect(asked).to.be.greaterThan(20);
    expect(open).to.equal(0);
    await provider.close();
  });
});
