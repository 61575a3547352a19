import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { APICallError } from '@ai-sdk/provider';
import { expect } from 'chai';
import { Observable } from 'rxjs';
import {
  ChatClient,
  defineTool,
  InvalidArgumentError,
  ModelCallError,
  Prompt,
  type ChatEvent,
  type ChatModel,
} from '../../../src/index.js';
import {
  AiSdkChatModel,
  asLanguageModel,
  type LanguageModelOptions,
} from '../../../src/models/ai-sdk/index.js';
import { ScriptedChatModel, type Script } from '../../../src/testing/index.js';
import { deferred } from '../../support/promises.js';
import { lastOf } from '../../support/recording-replay.js';

const PROMPT = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }];
const WEATHER = defineTool({
  name: 'weather',
  description: 'Weather',
  input: { type: 'object', properties: {} },
  execute: () => 'sun',
});
const CALL = { toolCalls: [{ id: 'c1', name: 'weather', arguments: '{}' }] };

/** A client as a language model, of the type that applications declare. */
function modelOf(
  answers: Script,
  options: LanguageModelOptions = {},
): { readonly chat: ScriptedChatModel; readonly model: LanguageModelV3 } {
  const chat = new ScriptedChatModel(answers);
  const client = ChatClient.builder(chat).defaultTools(WEATHER).build();
  return { chat, model: asLanguageModel(client, options) };
}

async function partsOf(
  model: LanguageModelV3,
  options: object = {},
): Promise<readonly LanguageModelV3StreamPart[]> {
  const { stream } = await model.doStream({ prompt: PROMPT, ...options });
  const parts: LanguageModelV3StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const textIn = (parts: readonly LanguageModelV3StreamPart[]): string =>
  parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');

describe('asLanguageModel', () => {
  it('answers with the turn of a chain', async () => {
    const usage = { inputTokens: 5, outputTokens: 3, totalTokens: 8, cachedInputTokens: 2 };
    const { model, chat } = modelOf([CALL, { text: 'It is sunny.', usage }]);

    const result = await model.doGenerate({ prompt: PROMPT, temperature: 0.5 });

    expect(result.content).to.deep.equal([{ type: 'text', text: 'It is sunny.' }]);
    expect(result.finishReason.unified).to.equal('stop');
    expect(result.usage.inputTokens).to.deep.equal({
      total: 5,
      noCache: 3,
      cacheRead: 2,
      cacheWrite: undefined,
    });
    expect(chat.prompts).to.have.length(2);
    expect(chat.prompts[0]?.options.temperature).to.equal(0.5);
  });

  it('streams the texts of a turn between a start and a finish', async () => {
    const { model } = modelOf([CALL, 'It is sunny.']);

    const parts = await partsOf(model);

    const types = parts.map(({ type }) => type).filter((type) => type !== 'text-delta');
    expect(types).to.deep.equal([
      'stream-start',
      'text-start',
      'text-end',
      'response-metadata',
      'finish',
    ]);
    expect(textIn(parts)).to.equal('It is sunny.');
  });

  it('gives citations with an address as sources', async () => {
    const citations = [{ url: 'https://a.example', title: 'A' }, { title: 'b.pdf' }];
    const source = { type: 'source', sourceType: 'url', id: 'source-0', ...citations[0] };

    const { content } = await modelOf([{ text: 'a', citations }]).model.doGenerate({
      prompt: PROMPT,
    });
    const parts = await partsOf(modelOf([{ text: 'a', citations }]).model);

    expect(content).to.deep.equal([{ type: 'text', text: 'a' }, source]);
    expect(parts).to.deep.include(source);
  });

  it('gives the conversation of the application to the chain', async () => {
    const { model, chat } = modelOf(['ok']);

    await model.doGenerate({
      prompt: [
        { role: 'system', content: 'Be short.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'file', mediaType: 'image/png', data: new URL('https://a.example/b.png') },
            { type: 'file', mediaType: 'application/pdf', data: 'AAAA', filename: 'a.pdf' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm' },
            { type: 'text', text: 'Look.' },
            { type: 'tool-call', toolCallId: '1', toolName: 'weather', input: { a: 1 } },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: '1',
              toolName: 'weather',
              output: { type: 'error-text', value: 'no' },
            },
          ],
        },
      ],
    });

    expect(chat.prompts[0]?.messages).to.deep.equal([
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'image', url: 'https://a.example/b.png', mediaType: 'image/png' },
          { type: 'file', data: 'AAAA', mediaType: 'application/pdf', name: 'a.pdf' },
        ],
      },
      {
        role: 'assistant',
        content: 'Look.',
        reasoning: 'Hm',
        toolCalls: [{ id: '1', name: 'weather', arguments: '{"a":1}' }],
      },
      { role: 'tool', toolCallId: '1', toolName: 'weather', content: 'no', isError: true },
    ]);
  });

  it('prepares requests by the options of the application', async () => {
    const { model, chat } = modelOf(['ok'], {
      prepare: (request, { providerOptions }) => request.system(JSON.stringify(providerOptions)),
    });

    await model.doGenerate({ prompt: PROMPT, providerOptions: { chain: { id: 'anna' } } });

    expect(chat.prompts[0]?.systemMessage?.content).to.equal('{"chain":{"id":"anna"}}');
  });

  it('warns of tools of the application, which are not offered', async () => {
    const { model, chat } = modelOf(['ok']);
    const tool = { type: 'function' as const, name: 'other', inputSchema: {} };

    const { warnings } = await model.doGenerate({ prompt: PROMPT, tools: [tool] });

    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include({ type: 'unsupported', feature: 'tools' });
    expect(chat.prompts[0]?.options.tools?.map(({ definition }) => definition.name)).to.deep.equal([
      'weather',
    ]);
  });

  it('fails with an error that the AI SDK knows and does not retry', async () => {
    const failure = new ModelCallError('busy', { status: 503, retryable: true });
    const { model } = modelOf([failure, failure]);

    const error: unknown = await model
      .doGenerate({ prompt: PROMPT })
      .then(undefined, (thrown: unknown) => thrown);
    const [, part] = await partsOf(model);

    expect(APICallError.isInstance(error)).to.equal(true);
    expect(error).to.include({ message: 'busy', statusCode: 503, isRetryable: false });
    expect((error as Error).cause).to.equal(failure);
    expect(part?.type === 'error' && APICallError.isInstance(part.error)).to.equal(true);
  });

  it('ends with the reason of the signal of the application', async () => {
    const entered = deferred();
    const hang: ChatModel['call'] = () => (entered.resolve(), new Promise(() => undefined));
    const chat = Object.assign(new ScriptedChatModel([]), { call: hang });
    const model = asLanguageModel(ChatClient.create(chat));
    const controller = new AbortController();

    const answer = model.doGenerate({ prompt: PROMPT, abortSignal: controller.signal });
    await entered.promise;
    controller.abort();
    const error: unknown = await answer.then(undefined, (thrown: unknown) => thrown);

    expect(error).to.equal(controller.signal.reason).and.include({ name: 'AbortError' });
  });

  it('starts nothing before the first read, and cancels the turn of a reader that leaves', async () => {
    let started = 0;
    const closed = deferred();
    const chat = Object.assign(new ScriptedChatModel([]), {
      stream: () =>
        new Observable<ChatEvent>((subscriber) => {
          started++;
          subscriber.next({ type: 'text-delta', text: 'a' });
          return () => closed.resolve();
        }),
    });
    const { stream } = await asLanguageModel(ChatClient.create(chat)).doStream({ prompt: PROMPT });
    const startedBefore = started;

    const reader = stream.getReader();
    for (const _ of ['stream-start', 'text-start']) await reader.read();
    await reader.cancel();
    await closed.promise;

    expect([startedBefore, started]).to.deep.equal([0, 1]);
  });

  it('is a model for the bridge again', async () => {
    const { model } = modelOf(['there', 'and back']);
    const bridged = new AiSdkChatModel({ model });

    expect((await bridged.call(new Prompt('hi'))).text).to.equal('there');
    expect((await lastOf(bridged.stream(new Prompt('hi')))).text).to.equal('and back');
  });

  it('refuses what is no client', () => {
    expect(() => asLanguageModel({} as never)).to.throw(InvalidArgumentError, /a ChatClient/);
    const client = ChatClient.create(new ScriptedChatModel([]));
    expect(() => asLanguageModel(client, { modelId: '' })).to.throw(
      InvalidArgumentError,
      /modelId/,
    );
  });
});
