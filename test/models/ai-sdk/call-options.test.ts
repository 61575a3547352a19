import { expect } from 'chai';
import {
  InvalidArgumentError,
  Prompt,
  type ChatOptions,
  type Message,
} from '../../../src/index.js';
import { AiSdkChatModel } from '../../../src/models/ai-sdk/index.js';
import { ScriptedLanguageModel, STOP } from '../../support/scripted-language-model.js';

const WEATHER = {
  definition: { name: 'weather', description: 'Weather', inputSchema: { type: 'object' } },
};

/** The request of a prompt. */
async function requestOf(
  messages: string | readonly Message[],
  options: ChatOptions = {},
  version = 'v3',
  urls: Record<string, RegExp[]> = {},
): Promise<Record<string, unknown>> {
  const model = new ScriptedLanguageModel([[{ type: 'text', text: 'a' }, STOP]], version);
  model.supportedUrls = urls;
  await new AiSdkChatModel({ model, maxRetries: 0 }).call(new Prompt(messages, options));
  const { abortSignal, ...request } = { ...model.requests[0] };
  expect(abortSignal).to.be.instanceOf(AbortSignal);
  return request;
}

const user = (...content: Extract<Message, { role: 'user' }>['content'][]): Message[] =>
  content.map((each) => ({ role: 'user', content: each }));

describe('a request to a model of the AI SDK', () => {
  it('has the options that its specification has', async () => {
    const request = await requestOf('hi', {
      maxTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      topK: 4,
      presencePenalty: 1,
      frequencyPenalty: 2,
      seed: 7,
      stopSequences: ['x'],
      responseFormat: { schema: { type: 'object' }, name: 'answer' },
      extraBody: { providerOptions: { madeUp: { a: 1 } }, headers: { 'x-a': 'b' } },
    });

    expect(request).to.deep.equal({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      topK: 4,
      presencePenalty: 1,
      frequencyPenalty: 2,
      seed: 7,
      stopSequences: ['x'],
      responseFormat: { type: 'json', schema: { type: 'object' }, name: 'answer' },
      providerOptions: { madeUp: { a: 1 } },
      headers: { 'x-a': 'b' },
    });
  });

  it('has the reasoning effort in specification v4', async () => {
    expect(await requestOf('hi', { reasoningEffort: 'low' }, 'v4')).to.include({
      reasoning: 'low',
    });
    expect(await requestOf('hi', { reasoningEffort: 'low' }, 'v3')).not.to.have.property(
      'reasoning',
    );
  });

  it('has tools, tools of the provider and the choice', async () => {
    const { tools, toolChoice } = await requestOf('hi', {
      tools: [WEATHER, { definition: { ...WEATHER.definition, name: 'b', deferLoading: true } }],
      providerTools: [{ id: 'madeUp.web_search', args: { max: 1 }, type: 'provider' }],
      toolChoice: { tool: 'weather' },
      strictTools: true,
    });

    const weather = { type: 'function', ...WEATHER.definition, strict: true };
    expect(toolChoice).to.deep.equal({ type: 'tool', toolName: 'weather' });
    expect(tools).to.deep.equal([
      weather,
      { ...weather, name: 'b', providerOptions: { 'made-up': { deferLoading: true } } },
      { type: 'provider', id: 'madeUp.web_search', name: 'web_search', args: { max: 1 } },
    ]);
  });

  it('refuses a provider tool without an id', async () => {
    const request = requestOf('hi', { providerTools: [{ type: 'web_search' }] });

    const error: unknown = await request.catch((thrown: unknown) => thrown);

    expect(error)
      .to.be.instanceOf(InvalidArgumentError)
      .and.match(/id.*openai\.web_search/);
  });

  it('joins the results of a batch, and marks errors', async () => {
    const { prompt } = await requestOf([
      { role: 'system', content: 'Be short.', metadata: { providerOptions: { madeUp: { c: 1 } } } },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '' },
      { role: 'assistant', content: null, toolCalls: [{ id: '1', name: 'a', arguments: '{bad' }] },
      { role: 'tool', toolCallId: '1', toolName: 'a', content: 'sun' },
      { role: 'tool', toolCallId: '2', toolName: 'b', content: 'no', isError: true },
      {
        role: 'tool',
        toolCallId: '3',
        toolName: 'c',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', data: new Uint8Array([1]), mediaType: 'image/png' },
        ],
      },
    ]);

    const image = { type: 'image-data', mediaType: 'image/png', data: 'AQ==' };
    const result = (id: string, toolName: string, type: string, value: unknown): object => ({
      type: 'tool-result',
      toolCallId: id,
      toolName,
      output: { type, value },
    });
    expect(prompt).to.deep.equal([
      { role: 'system', content: 'Be short.', providerOptions: { madeUp: { c: 1 } } },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: '1', toolName: 'a', input: {} }],
      },
      {
        role: 'tool',
        content: [
          result('1', 'a', 'text', 'sun'),
          result('2', 'b', 'error-text', 'no'),
          result('3', 'c', 'content', [{ type: 'text', text: 'see' }, image]),
        ],
      },
    ]);
  });

  it('has media by content in the form of each specification', async () => {
    const messages = user([
      { type: 'image', url: 'data:image/gif;base64,AAAA' },
      { type: 'file', data: 'BBBB', mediaType: 'application/pdf', name: 'a.pdf' },
      { type: 'raw', value: { type: 'strange' } },
    ]);

    const contentIn = async (version: string): Promise<unknown> => {
      const { prompt } = await requestOf(messages, {}, version);
      return (prompt as readonly { readonly content: unknown }[])[0]?.content;
    };

    const pdf = { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf' };
    expect(await contentIn('v3')).to.deep.equal([
      { type: 'file', mediaType: 'image/gif', data: 'AAAA' },
      { ...pdf, data: 'BBBB' },
      { type: 'strange' },
    ]);
    expect(await contentIn('v4')).to.deep.equal([
      { type: 'file', mediaType: 'image/gif', data: { type: 'data', data: 'AAAA' } },
      { ...pdf, data: { type: 'data', data: 'BBBB' } },
      { type: 'strange' },
    ]);
  });

  it('gives an address to a model that fetches it', async () => {
    const messages = user([{ type: 'image', url: 'https://a.example/b.png' }]);
    const { prompt } = await requestOf(messages, {}, 'v3', { 'image/*': [/^https:/] });

    const url = new URL('https://a.example/b.png');
    expect(prompt).to.deep.equal([
      { role: 'user', content: [{ type: 'file', mediaType: 'image/*', data: url }] },
    ]);
  });

  it('refuses an address that the model does not fetch, with the next step', async () => {
    const messages = user([{ type: 'file', url: 'https://a.example/b.pdf' }]);
    const urls = { 'image/*': [/^https:/], 'application/pdf': [/^gs:/] };

    const error: unknown = await requestOf(messages, {}, 'v3', urls).catch((e: unknown) => e);

    expect(error).to.be.instanceOf(InvalidArgumentError);
    expect(error).to.match(/made-up-1 does not fetch file parts \(application\/pdf\).*give `data`/);
  });
});
