import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import {
  decodeMessage,
  encodeMessage,
  Prompt,
  type AssistantMessage,
  type Message,
} from '../../../src/index.js';
import { AiSdkChatModel } from '../../../src/models/ai-sdk/index.js';
import { lastOf } from '../../support/recording-replay.js';
import {
  ScriptedLanguageModel,
  STOP,
  textParts,
  type Part,
} from '../../support/scripted-language-model.js';

const signed = (signature: string): object => ({ madeUp: { signature } });

/** An answer with everything that a provider needs back, in an order of its own. */
const STREAM: readonly Part[] = [
  { type: 'reasoning-start', id: 'r1' },
  { type: 'reasoning-delta', id: 'r1', delta: 'First.' },
  { type: 'reasoning-delta', id: 'r1', delta: '', providerMetadata: signed('one') },
  { type: 'reasoning-end', id: 'r1' },
  { type: 'reasoning-start', id: 'r2', providerMetadata: { madeUp: { redacted: 'x' } } },
  { type: 'reasoning-end', id: 'r2' },
  {
    type: 'tool-call',
    toolCallId: 's1',
    toolName: 'search',
    input: '{"q":"a"}',
    providerExecuted: true,
    providerMetadata: signed('search'),
  },
  { type: 'tool-result', toolCallId: 's1', toolName: 'search', result: [], preliminary: true },
  { type: 'tool-result', toolCallId: 's1', toolName: 'search', result: [{ url: 'u' }] },
  { type: 'text-start', id: 't1' },
  { type: 'text-delta', id: 't1', delta: 'Look' },
  { type: 'text-end', id: 't1', providerMetadata: signed('text') },
  {
    type: 'tool-call',
    toolCallId: 'c1',
    toolName: 'weather',
    input: '{"city":"Oslo"}',
    providerMetadata: signed('call'),
  },
  { type: 'file', mediaType: 'image/png', data: 'AQID', providerMetadata: signed('file') },
  { type: 'custom', kind: 'madeUp.pause', providerMetadata: signed('custom') },
  ...textParts('.', 't2'),
  STOP,
];

const CONTENT = [
  { type: 'reasoning', text: 'First.', providerOptions: signed('one') },
  { type: 'reasoning', text: '', providerOptions: { madeUp: { redacted: 'x' } } },
  {
    type: 'tool-call',
    toolCallId: 's1',
    toolName: 'search',
    providerExecuted: true,
    input: { q: 'a' },
    providerOptions: signed('search'),
  },
  {
    type: 'tool-result',
    toolCallId: 's1',
    toolName: 'search',
    output: { type: 'json', value: [{ url: 'u' }] },
  },
  { type: 'text', text: 'Look', providerOptions: signed('text') },
  {
    type: 'tool-call',
    toolCallId: 'c1',
    toolName: 'weather',
    input: { city: 'Oslo' },
    providerOptions: signed('call'),
  },
  { type: 'file', mediaType: 'image/png', data: 'AQID', providerOptions: signed('file') },
  { type: 'custom', kind: 'madeUp.pause', providerOptions: signed('custom') },
  { type: 'text', text: '.' },
];

class OtherModel extends ScriptedLanguageModel {
  override readonly provider = 'other.chat';
}

/** The answer of a model, as a memory keeps it. */
async function answerOf(parts: readonly Part[]): Promise<AssistantMessage> {
  const model = new AiSdkChatModel({ model: new ScriptedLanguageModel([parts]) });
  const { message } = await lastOf(model.stream(new Prompt('hi')));
  return decodeMessage(encodeMessage(message)) as AssistantMessage;
}

/** The content of an answer in the next request. */
async function sentBack(
  message: Message,
  source = new ScriptedLanguageModel([[STOP]]),
): Promise<unknown> {
  const result = { role: 'tool', toolCallId: 'c1', toolName: 'weather', content: 'sun' } as const;
  const model = new AiSdkChatModel({ model: source });
  await lastOf(model.stream(new Prompt([{ role: 'user', content: 'hi' }, message, result])));
  const prompt = (source.requests[0]?.prompt ?? []) as readonly { readonly content: unknown }[];
  return prompt[1]?.content;
}

describe('an answer of a model of the AI SDK', () => {
  it('is sent back with all parts and their provider metadata, in order', async () => {
    expect(await sentBack(await answerOf(STREAM))).to.deep.equal(CONTENT);
  });

  it('has the calls of its own tools alone', async () => {
    const { content: text, reasoning, toolCalls = [] } = await answerOf(STREAM);

    expect(text).to.equal('Look.');
    expect(reasoning).to.equal('First.');
    expect(toolCalls.map(({ id }) => id)).to.deep.equal(['c1']);
  });

  it('has no call that turns out to be one of the provider', async () => {
    const start = { type: 'tool-input-start', id: 's1', toolName: 'search' };
    const call = { type: 'tool-call', toolCallId: 's1', toolName: 'search', input: '{}' };
    const own = { ...call, toolCallId: 'c1', toolName: 'weather' };

    const message = await answerOf([start, { ...call, providerExecuted: true }, own, STOP]);
    const content = (await sentBack(message)) as readonly { readonly toolName: string }[];

    expect(callsOf(message).map(({ id }) => id)).to.deep.equal(['c1']);
    expect(content.map(({ toolName }) => toolName)).to.deep.equal(['search', 'weather']);
  });

  it('is sent to another provider as text and calls', async () => {
    const content = await sentBack(await answerOf(STREAM), new OtherModel([[STOP]]));

    expect(content).to.deep.equal([
      { type: 'text', text: 'Look.' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { city: 'Oslo' } },
    ]);
  });

  it('is sent back with the text that an advisor has changed, once and unsigned', async () => {
    const message = { ...(await answerOf(STREAM)), content: '***' };

    const content = (await sentBack(message)) as readonly { readonly type: string }[];

    expect(content.filter(({ type }) => type === 'text')).to.deep.equal([
      { type: 'text', text: '***' },
    ]);
    expect(content.map(({ type }) => type)).to.include.members(['reasoning', 'tool-call', 'file']);
  });

  it('is sent back without reasoning that was changed: its signature is void', async () => {
    const { reasoning: _, ...message } = await answerOf(STREAM);

    const content = (await sentBack(message)) as readonly { readonly type: string }[];

    expect(content.map(({ type }) => type)).not.to.include('reasoning');
  });

  it('is sent back with calls that an advisor has added', async () => {
    const message = await answerOf(STREAM);
    const call = { id: 'c2', name: 'time', arguments: '' };

    const content = await sentBack({ ...message, toolCalls: [...callsOf(message), call] });

    expect(content).to.deep.equal([
      ...CONTENT,
      { type: 'tool-call', toolCallId: 'c2', toolName: 'time', input: {} },
    ]);
  });

  it('gives a repeated call id a suffix, and still sends the metadata of each call back', async () => {
    const call = (signature: string): Part => ({
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'weather',
      input: '{}',
      providerMetadata: signed(signature),
    });
    const message = await answerOf([call('a'), call('b'), STOP]);

    const content = (await sentBack(message)) as readonly object[];

    expect(callsOf(message).map(({ id }) => id)).to.deep.equal(['c1', 'c1_2']);
    expect(content).to.deep.equal([
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'weather',
        input: {},
        providerOptions: signed('a'),
      },
      {
        type: 'tool-call',
        toolCallId: 'c1_2',
        toolName: 'weather',
        input: {},
        providerOptions: signed('b'),
      },
    ]);
  });
});
