import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import {
  ChatClient,
  decodeMessage,
  encodeMessage,
  InvalidArgumentError,
  type Message,
} from '../../../src/index.js';
import {
  AiSdkChatModel,
  fromModelMessages,
  toModelMessages,
  type AiSdkMessage,
} from '../../../src/models/ai-sdk/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { ai, type UIMessage } from '../../support/ai-sdk.js';
import { modelMessages, ownMessages } from '../../support/model-messages.js';
import { ScriptedLanguageModel, STOP, textParts } from '../../support/scripted-language-model.js';

const OPTIONS = { madeUp: { signature: 's' } };
const back = (...messages: readonly AiSdkMessage[]) => toModelMessages(fromModelMessages(messages));
const result = (output: object) => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'find', output }],
});

describe('fromModelMessages', () => {
  it('has texts, media, calls, reasoning and results in the fields of this library', () => {
    const converted = fromModelMessages([
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image', image: new URL('https://a.example/b.png') },
          { type: 'file', data: 'AAAA', mediaType: 'application/pdf', filename: 'a.pdf' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'find', input: { city: 'Rome' } },
        ],
      },
      result({ type: 'json', value: { degrees: 20 } }),
    ]);

    expect(converted).to.deep.equal([
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image', url: 'https://a.example/b.png' },
          { type: 'file', data: 'AAAA', mediaType: 'application/pdf', name: 'a.pdf' },
        ],
      },
      {
        role: 'assistant',
        content: 'I look.',
        toolCalls: [{ id: 'c', name: 'find', arguments: '{"city":"Rome"}' }],
        reasoning: 'Hm.',
      },
      {
        role: 'tool',
        toolCallId: 'c',
        toolName: 'find',
        content: '{"degrees":20}',
        metadata: { 'ai-sdk': { output: 'json' } },
      },
    ]);
  });

  it('loses nothing: toModelMessages gives the same messages back, also after a store', () => {
    fc.assert(
      fc.property(modelMessages, (messages) => {
        const own = fromModelMessages(messages);
        const stored = own.map((message) => decodeMessage(encodeMessage(message)));

        expect(toModelMessages(own)).to.deep.equal(messages);
        expect(toModelMessages(stored)).to.deep.equal(messages);
      }),
      { numRuns: 500 },
    );
  });

  it('takes all forms of media, of which toModelMessages writes one', () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const forms = [
      { type: 'image', image: 'AQID', mediaType: 'image/png' },
      { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' },
      { type: 'image', image: bytes.buffer, mediaType: 'image/png' },
      {
        type: 'file',
        data: { type: 'url', url: new URL('https://a.example/b') },
        mediaType: 'image/png',
      },
      { type: 'file', data: { type: 'text', text: 'a,b' }, mediaType: 'text/csv' },
    ];

    const [message] = back({ role: 'user', content: forms });

    expect(message?.content).to.deep.equal([
      { type: 'file', data: 'AQID', mediaType: 'image/png' },
      { type: 'file', data: 'AQID', mediaType: 'image/png' },
      { type: 'file', data: bytes, mediaType: 'image/png' },
      { type: 'file', data: 'https://a.example/b', mediaType: 'image/png' },
      { type: 'file', data: new TextEncoder().encode('a,b'), mediaType: 'text/csv' },
    ]);
  });

  it('gives references to files of a provider back unchanged', () => {
    const content = [{ type: 'file', data: { madeUp: 'file-7' }, mediaType: 'image/png' }];

    expect(back({ role: 'user', content })).to.deep.equal([{ role: 'user', content }]);
  });

  it('refuses what it does not know, with the place', () => {
    const refused: readonly (readonly [object, RegExp])[] = [
      [{ role: 'robot', content: '' }, /messages\[0\]\.role must be .*not "robot"/],
      [
        { role: 'user', content: [{ type: 'hologram' }] },
        /\[0\]\.content\[0\] must be .*"hologram"/,
      ],
      [{ role: 'assistant', content: [{ type: 'text' }] }, /content\[0\]\.text must be a text/],
      [{ role: 'tool', content: [{ type: 'text', text: '' }] }, /content\[0\] must be a part/],
      [result({ type: 'poem' }), /output\.type must be a kind of output, not "poem"/],
      [
        {
          role: 'tool',
          content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }],
        },
        /must follow the message with the approval request/,
      ],
    ];

    for (const [message, text] of refused)
      expect(() => fromModelMessages([message as AiSdkMessage])).to.throw(
        InvalidArgumentError,
        text,
      );
    expect(() => fromModelMessages({} as never)).to.throw(InvalidArgumentError, /must be an array/);
  });

  it('keeps signatures and cache marks for the provider that a request goes to', async () => {
    const model = new ScriptedLanguageModel([[...textParts('Ok.'), STOP]]);
    const messages = fromModelMessages([
      { role: 'user', content: [{ type: 'text', text: 'Hi.', providerOptions: OPTIONS }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: OPTIONS },
          { type: 'tool-call', toolCallId: 'c', toolName: 'find', input: {} },
          { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c' },
        ],
      },
      result({ type: 'json', value: [1] }),
    ]);

    await ChatClient.create(new AiSdkChatModel({ model }))
      .prompt()
      .messages(messages)
      .call()
      .content();

    expect(model.requests[0]?.prompt).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'Hi.', providerOptions: OPTIONS }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: OPTIONS },
          { type: 'tool-call', toolCallId: 'c', toolName: 'find', input: {} },
        ],
      },
      result({ type: 'json', value: [1] }),
    ]);
  });

  it('gives a turn the conversation of a page, as convertToModelMessages reads it', async () => {
    const page: UIMessage[] = [
      {
        id: '1',
        role: 'user',
        parts: [
          { type: 'text', text: 'How warm is it?' },
          { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AQID' },
        ],
      },
      {
        id: '2',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'reasoning', text: 'Hm.' },
          {
            type: 'tool-find',
            toolCallId: 'c',
            state: 'output-available',
            input: {},
            output: { degrees: 20 },
          },
          {
            type: 'tool-pay',
            toolCallId: 'd',
            state: 'output-denied',
            input: {},
            approval: { id: 'a', approved: false, reason: 'Too much.' },
          },
          { type: 'step-start' },
          { type: 'text', text: 'It is warm.' },
        ],
      },
      { id: '3', role: 'user', parts: [{ type: 'text', text: 'And now?' }] },
    ];
    const model = new ScriptedChatModel('Colder.');

    const messages = fromModelMessages(await ai.convertToModelMessages(page));
    await ChatClient.create(model).prompt().messages(messages).call().content();

    const sent = model.prompts[0]?.messages.map(({ metadata: _kept, ...message }) => message);
    expect(sent).to.deep.equal([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'How warm is it?' },
          { type: 'image', url: 'data:image/png;base64,AQID', mediaType: 'image/png' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning: 'Hm.',
        toolCalls: [
          { id: 'c', name: 'find', arguments: '{}' },
          { id: 'd', name: 'pay', arguments: '{}' },
        ],
      },
      { role: 'tool', toolCallId: 'c', toolName: 'find', content: '{"degrees":20}' },
      { role: 'tool', toolCallId: 'd', toolName: 'pay', content: 'Too much.', isError: true },
      { role: 'assistant', content: 'It is warm.' },
      { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
    ]);
  });
});

describe('toModelMessages', () => {
  const schema = z.array(ai.modelMessageSchema as unknown as z.ZodType);

  it('writes messages that the AI SDK accepts and fromModelMessages gives back', () => {
    fc.assert(
      fc.property(ownMessages, (messages) => {
        const converted = toModelMessages(messages);

        expect(schema.safeParse(converted).error).to.equal(undefined);
        expect(fromModelMessages(converted)).to.deep.equal(messages);
      }),
      { numRuns: 500 },
    );
  });

  it('writes what the AI SDK had written itself', () => {
    fc.assert(
      fc.property(modelMessages, (messages) => {
        expect(schema.safeParse(toModelMessages(fromModelMessages(messages))).error).to.equal(
          undefined,
        );
      }),
      { numRuns: 200 },
    );
  });

  it('has the results of a batch in one message, and options begin another', () => {
    const tool = (toolCallId: string, metadata?: Message['metadata']): Message => ({
      role: 'tool',
      toolCallId,
      toolName: 'find',
      content: 'x',
      ...(metadata && { metadata }),
    });

    const converted = toModelMessages([
      tool('a'),
      tool('b'),
      tool('c', { providerOptions: OPTIONS }),
      tool('d'),
    ]);

    expect(converted.map(({ content }) => content.length)).to.deep.equal([2, 2]);
    expect(converted[1]?.providerOptions).to.deep.equal(OPTIONS);
  });

  it('drops kept pieces of a text that has changed', () => {
    const [message] = fromModelMessages([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'It is ', providerOptions: OPTIONS },
          { type: 'text', text: 'warm.' },
        ],
      },
    ]);

    const changed = toModelMessages([{ ...message, content: 'Redacted.' } as Message]);

    expect(changed[0]?.content).to.deep.equal([{ type: 'text', text: 'Redacted.' }]);
  });

  it('writes a refusal as a text', () => {
    const message = { role: 'assistant', content: null, refusal: 'No.' } as const;

    expect(toModelMessages([message])).to.deep.equal([{ role: 'assistant', content: 'No.' }]);
  });

  it('refuses invalid messages and raw parts of another wire', () => {
    const raw = {
      role: 'user',
      content: [{ type: 'raw', value: { type: 'input_video' } }],
    } as const;

    expect(() => toModelMessages([raw])).to.throw(
      InvalidArgumentError,
      'toModelMessages: messages[0] has a raw part of the type "input_video"',
    );
    expect(() => toModelMessages([{ role: 'user' } as never])).to.throw(InvalidArgumentError);
  });
});
