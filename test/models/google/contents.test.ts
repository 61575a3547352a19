import { expect } from 'chai';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../../../src/index.js';
import { toContents } from '../../../src/models/google/contents.js';
import type { JsonObject } from '../../../src/core/internal/options.js';

const onWire = (messages: readonly Message[], isGemini3 = false): JsonObject =>
  JSON.parse(JSON.stringify(toContents(messages, isGemini3))) as JsonObject;
const contentsOf = (messages: readonly Message[], isGemini3 = false): unknown =>
  onWire(messages, isGemini3)['contents'];
const partsOf = (message: Message): unknown =>
  (contentsOf([message]) as readonly { parts: unknown }[])[0]?.parts;

const call = (id: string, name: string, metadata?: JsonObject): ToolCall => ({
  id,
  name,
  arguments: '{"x":1}',
  ...(metadata && { metadata: { google: metadata } }),
});
const answer = (fields: Partial<AssistantMessage>): AssistantMessage => ({
  role: 'assistant',
  content: null,
  ...fields,
});
const result = (toolCallId: string, content: ToolMessage['content']): ToolMessage => ({
  role: 'tool',
  toolCallId,
  toolName: 'f',
  content,
});

describe('contents of a request to Google', () => {
  it('join the system messages in their own place', () => {
    const body = onWire([
      { role: 'system', content: 'a' },
      { role: 'user', content: 'hi' },
      { role: 'system', content: 'b' },
    ]);

    expect(body).to.deep.equal({
      systemInstruction: { parts: [{ text: 'a' }, { text: 'b' }] },
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    });
  });

  it('have media by content and by address, and raw parts unchanged', () => {
    const parts = partsOf({
      role: 'user',
      content: [
        { type: 'text', text: 't' },
        { type: 'image', data: new Uint8Array([1, 2]), mediaType: 'image/png' },
        { type: 'audio', data: 'QUJD', mediaType: 'audio/mp3' },
        { type: 'file', url: 'gs://b/v.mp4', mediaType: 'video/mp4' },
        { type: 'image', url: 'data:image/gif;base64,QUJD' },
        { type: 'file', url: 'https://example.com/a.pdf' },
        { type: 'raw', value: { text: 'r', videoMetadata: { fps: 1 } } },
      ],
    });

    expect(parts).to.deep.equal([
      { text: 't' },
      { inlineData: { mimeType: 'image/png', data: 'AQI=' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'QUJD' } },
      { fileData: { mimeType: 'video/mp4', fileUri: 'gs://b/v.mp4' } },
      { inlineData: { mimeType: 'image/gif', data: 'QUJD' } },
      { fileData: { fileUri: 'https://example.com/a.pdf' } },
      { text: 'r', videoMetadata: { fps: 1 } },
    ]);
  });

  it('have the text and the calls of an answer, without reasoning and ids of other providers', () => {
    const message = answer({
      content: 'so',
      reasoning: 'hm',
      toolCalls: [{ ...call('call_1', 'f'), arguments: '' }, call('toolu_1', 'g')],
      metadata: { anthropic: { content: [{ signature: 's' }] } },
    });

    expect(partsOf(message)).to.deep.equal([
      { text: 'so' },
      { functionCall: { name: 'f', args: {} } },
      { functionCall: { name: 'g', args: { x: 1 } } },
    ]);
  });

  it('have no message without parts, which the API rejects', () => {
    const messages: readonly Message[] = [
      { role: 'user', content: [] },
      { role: 'user', content: 'hi' },
    ];

    expect(contentsOf(messages)).to.deep.equal([{ role: 'user', parts: [{ text: 'hi' }] }]);
  });

  it('have a refusal as text, arguments that are no object as a field, and no empty answer', () => {
    const broken = { id: 'a', name: 'f', arguments: '{"x":' };

    expect(contentsOf([answer({ refusal: 'no' }), answer({ content: '' })])).to.deep.equal([
      { role: 'model', parts: [{ text: 'no' }] },
    ]);
    expect(partsOf(answer({ toolCalls: [broken] }))).to.deep.equal([
      { functionCall: { name: 'f', args: { arguments: '{"x":' } } },
    ]);
  });

  describe('of an answer with kept parts', () => {
    const kept = [
      { thought: true, text: 'hm', thoughtSignature: 's1' },
      { text: 'a', thoughtSignature: 's2' },
      { toolCallId: 'c' },
      { executableCode: { code: '1' } },
      { text: 'b' },
      { text: '', thoughtSignature: 's4' },
    ];
    const message = answer({
      content: 'ab',
      reasoning: 'hm',
      toolCalls: [call('c', 'f', { id: 'c', thoughtSignature: 's3' })],
      metadata: { google: { parts: kept } },
    });
    const callPart = {
      functionCall: { id: 'c', name: 'f', args: { x: 1 } },
      thoughtSignature: 's3',
    };

    it('are those in their order, with their signatures', () => {
      expect(partsOf(message)).to.deep.equal(kept.with(2, callPart as never));
    });

    it('have a text that an advisor has changed, in place of the texts', () => {
      expect(partsOf({ ...message, content: 'new' })).to.deep.equal([
        { text: 'new' },
        kept[0],
        callPart,
        kept[3],
      ]);
      expect(partsOf({ ...message, content: null })).to.deep.equal([kept[0], callPart, kept[3]]);
    });

    it('have no reasoning that an advisor has removed', () => {
      const { reasoning: _, ...silent } = message;

      expect(partsOf(silent)).to.deep.equal([kept[1], callPart, ...kept.slice(3)]);
    });

    it('have the calls of the message: without removed ones, with added ones at the end', () => {
      const changed = { ...message, toolCalls: [call('d', 'g')] };

      expect(partsOf(changed)).to.deep.equal([
        ...kept.slice(0, 2),
        ...kept.slice(3),
        { functionCall: { name: 'g', args: { x: 1 } } },
      ]);
    });
  });

  it('have the results of a batch in one message, in the order of the calls', () => {
    const contents = contentsOf([
      answer({ toolCalls: [call('a', 'f', { id: 'a' }), call('b', 'g')] }),
      { ...result('b', 'second'), isError: true },
      result('a', [
        { type: 'text', text: 'fir' },
        { type: 'text', text: 'st' },
      ]),
    ]) as readonly unknown[];

    expect(contents[1]).to.deep.equal({
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'f', response: { output: 'first' } } },
        { functionResponse: { name: 'g', response: { error: 'second' } } },
      ],
    });
  });

  describe('with media in a result', () => {
    const messages = [
      answer({ toolCalls: [call('a', 'f')] }),
      result('a', [
        { type: 'text', text: 'see' },
        { type: 'image', data: 'QUJD', mediaType: 'image/png' },
      ]),
    ];
    const image = { inlineData: { mimeType: 'image/png', data: 'QUJD' } };

    it('have them in the result for Gemini 3', () => {
      expect((contentsOf(messages, true) as readonly unknown[]).slice(1)).to.deep.equal([
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'f', response: { output: 'see' }, parts: [image] } }],
        },
      ]);
    });

    it('have them in the next message for earlier models', () => {
      expect((contentsOf(messages) as readonly unknown[]).slice(1)).to.deep.equal([
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'f', response: { output: 'see' } } }],
        },
        { role: 'user', parts: [{ text: 'From the tool f:' }, image] },
      ]);
    });
  });

  it('sign calls of other models in the current turn for Gemini 3, which rejects them otherwise', () => {
    const messages: readonly Message[] = [
      { role: 'user', content: '1' },
      answer({ toolCalls: [call('a', 'f')] }),
      result('a', 'r'),
      { role: 'user', content: '2' },
      answer({ content: 't', toolCalls: [call('b', 'f'), call('c', 'f')] }),
      result('b', 'r'),
      result('c', 'r'),
      answer({ toolCalls: [call('d', 'f', { thoughtSignature: 'own' })] }),
      result('d', 'r'),
    ];
    const signatures = (isGemini3: boolean): unknown =>
      (contentsOf(messages, isGemini3) as readonly { role: string; parts: JsonObject[] }[])
        .filter(({ role }) => role === 'model')
        .map(({ parts }) => parts.map((part) => part['thoughtSignature'] ?? ''));

    expect(signatures(true)).to.deep.equal([
      [''],
      ['', 'skip_thought_signature_validator', ''],
      ['own'],
    ]);
    expect(signatures(false)).to.deep.equal([[''], ['', '', ''], ['own']]);
  });
});
