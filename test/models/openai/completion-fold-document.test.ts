import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import { ModelCallError, type AssistantMessage, type ChatResponse } from '../../../src/index.js';
import { CompletionFold } from '../../../src/models/openai/completion-fold.js';
import { toRequestBody } from '../../../src/models/openai/request.js';
import type { JsonObject } from '../../../src/core/internal/options.js';

const messageOnWire = (message: AssistantMessage): unknown =>
  (toRequestBody([message], {})['messages'] as readonly unknown[])[0];

function fold(document: unknown): ChatResponse {
  const folded = new CompletionFold(() => undefined);
  folded.addDocument(document);
  return folded.response();
}

describe('CompletionFold.addDocument', () => {
  const read = (
    message: JsonObject,
    choice: JsonObject = {},
    body: JsonObject = {},
  ): ChatResponse =>
    fold({ choices: [{ index: 0, message, finish_reason: 'stop', ...choice }], ...body });
  const messageOf = (message: JsonObject): AssistantMessage => read(message).message;
  const call = (more: JsonObject = {}): JsonObject => ({
    id: 'a',
    type: 'function',
    function: { name: 'f', arguments: '{}' },
    ...more,
  });

  it('reads text, finish reason, usage, id and model', () => {
    const response = read(
      { content: 'hi' },
      {},
      { id: 'r', model: 'm', usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
    );

    expect(response).to.deep.include({
      id: 'r',
      model: 'm',
      usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
    });
    expect(response.message).to.deep.equal({ role: 'assistant', content: 'hi' });
    expect(response.finishReason).to.equal('stop');
  });

  it('keeps non-empty fields that are not mapped', () => {
    const response = read(
      { content: '', annotations: [{ type: 'url' }], audio: null },
      { native_finish_reason: 'STOP', logprobs: { content: [{ token: 'a' }] }, stop_reason: null },
      {
        id: 'r',
        created: 1,
        object: 'x',
        system_fingerprint: 'f',
        citations: [],
        service_tier: null,
      },
    );

    expect(response.metadata).to.deep.equal({ system_fingerprint: 'f' });
    expect(response.citations).to.deep.equal([{ raw: { type: 'url' } }]);
    expect(response.result?.metadata).to.deep.equal({
      native_finish_reason: 'STOP',
      logprobs: { content: [{ token: 'a' }] },
    });
  });

  const texts: readonly (readonly [
    title: string,
    message: JsonObject,
    text: string | null,
    reasoning?: string,
  ])[] = [
    ['null content', { content: null }, ''],
    ['no content', {}, ''],
    ['null content beside calls', { content: null, tool_calls: [call()] }, null],
    ['empty content beside calls', { content: '', tool_calls: [call()] }, null],
    ['content beside calls', { content: 'wait', tool_calls: [call()] }, 'wait'],
    ['null content beside a refusal', { content: null, refusal: 'no' }, null],
    [
      'content parts',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'image_url' },
          null,
        ],
      },
      'ab',
    ],
    [
      'thinking parts',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          { type: 'text', text: 'b' },
        ],
      },
      'b',
      'hm',
    ],
    [
      'thinking parts of plain text',
      {
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'b' },
        ],
      },
      'b',
      'hm',
    ],
    ['reasoning_content', { content: 'b', reasoning_content: 'hm' }, 'b', 'hm'],
    ['reasoning', { content: 'b', reasoning: 'hm', reasoning_content: '' }, 'b', 'hm'],
    [
      'reasoning_details',
      { content: 'b', reasoning_details: [{ text: 'h' }, { summary: 'm' }, { data: 'x' }] },
      'b',
      'hm',
    ],
    [
      'reasoning and its details, once',
      { content: 'b', reasoning: 'hm', reasoning_details: [{ text: 'hm' }] },
      'b',
      'hm',
    ],
  ];
  for (const [title, message, text, reasoning] of texts) {
    it(`reads ${title}`, () => {
      expect(messageOf(message)).to.include({ content: text });
      expect(messageOf(message).reasoning).to.equal(reasoning);
    });
  }

  const calls: readonly (readonly [
    title: string,
    calls: unknown,
    expected: readonly (readonly [string, string, string])[],
  ])[] = [
    ['no type', [call({ type: undefined })], [['a', 'f', '{}']]],
    ['an empty type', [call({ type: '' })], [['a', 'f', '{}']]],
    ['an index', [call({ index: 0 })], [['a', 'f', '{}']]],
    [
      'arguments as an object',
      [call({ function: { name: 'f', arguments: { x: [1] } } })],
      [['a', 'f', '{"x":[1]}']],
    ],
    ['no arguments', [call({ function: { name: 'f' } })], [['a', 'f', '']]],
    ['null arguments', [call({ function: { name: 'f', arguments: null } })], [['a', 'f', '']]],
    [
      'a custom tool',
      [call({ type: 'custom', function: undefined, custom: { name: 'c' } }), call()],
      [['a', 'f', '{}']],
    ],
    ['null', null, []],
    ['nothing', [], []],
  ];
  for (const [title, wire, expected] of calls) {
    it(`reads tool calls with ${title}`, () => {
      expect(
        callsOf(messageOf({ tool_calls: wire })).map((one) => [one.id, one.name, one.arguments]),
      ).to.deep.equal(expected);
    });
  }

  it('[F22] [OAI-05] gives every call a unique id, whatever the provider sends', () => {
    const wire = ['a', 'a', '', null, undefined, 'null'].map((id) => call({ id }));
    const ids = callsOf(messageOf({ tool_calls: wire })).map(({ id }) => id);

    expect(new Set(ids).size).to.equal(wire.length);
    expect(ids[0]).to.equal('a');
    expect(ids).to.not.include('');
  });

  for (const reason of ['', 'null', null, undefined]) {
    it(`reads the finish reason ${JSON.stringify(reason)} as none`, () => {
      expect(read({ content: 'x' }, { finish_reason: reason }).finishReason).to.equal(undefined);
    });
  }

  it('[F43] relies on the calls and not on the finish reason', () => {
    for (const finishReason of ['stop', 'tool_calls', 'eos', '', null, 'function_call'])
      for (const content of [null, '', 'text'])
        for (const toolCalls of [[], [call()]]) {
          const response = read(
            { content, tool_calls: toolCalls },
            { finish_reason: finishReason },
          );
          expect(
            response.hasToolCalls(),
            `${finishReason}, ${content}, ${toolCalls.length}`,
          ).to.equal(toolCalls.length > 0);
        }
  });

  it('[F57] separates several choices, in order', () => {
    const body = {
      choices: ['a', 'b', 'c'].map((content, index) => ({
        index,
        message: { content },
        finish_reason: 'stop',
      })),
    };

    expect(fold(body).generations.map(({ message }) => message.content)).to.deep.equal([
      'a',
      'b',
      'c',
    ]);
  });

  it('[F57] separates choices that have no index, or the same', () => {
    const choices = [{}, {}, { index: 0 }].map((choice, at) => ({
      ...choice,
      message: { content: `${at}` },
    }));

    expect(fold({ choices }).generations.map(({ message }) => message.content)).to.deep.equal([
      '0',
      '1',
      '2',
    ]);
  });

  it('[F39] separates calls that have incomplete arguments and share an id', () => {
    const parts = ['{"x', '', '":1}'].map((text) =>
      call({ function: { name: 'f', arguments: text } }),
    );

    expect(callsOf(messageOf({ tool_calls: parts })).map((one) => one.arguments)).to.deep.equal([
      '{"x',
      '',
      '":1}',
    ]);
  });

  it('keeps other fields of a message, and of a choice without a finish reason', () => {
    const message = { content: 'x', audio: { id: 'a' }, annotations: [] };
    const { generations } = fold({ choices: [{ message, stop_reason: 7 }] });

    expect(generations).to.deep.equal([
      {
        message: { role: 'assistant', content: 'x' },
        metadata: { audio: { id: 'a' }, stop_reason: 7 },
      },
    ]);
  });

  it('keeps no parts of content without thinking', () => {
    const content = [
      { type: 'text', text: 'x' },
      { type: 'text', text: 'y' },
    ];

    expect(messageOf({ content })).to.deep.equal({ role: 'assistant', content: 'xy' });
  });

  it('reads a choice that has a delta in place of the message', () => {
    expect(fold({ choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] }).text).to.equal(
      'x',
    );
  });

  for (const body of [
    undefined,
    null,
    'text',
    [],
    {},
    { choices: null },
    { choices: [] },
    { choices: [null] },
  ]) {
    it(`rejects ${JSON.stringify(body)}`, () => {
      expect(() => fold(body)).to.throw(ModelCallError, 'no choices');
    });
  }

  const echoed: JsonObject = {
    reasoning_content: 'thought',
    reasoning: 'thought',
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 0 }],
    thought_signature: 'signature',
    extra_content: { google: { thought_signature: 'signature' } },
    thinking_blocks: [{ type: 'thinking', thinking: 'thought', signature: 's' }],
  };

  it('[OAI-10] sends back the fields that the provider needs again, of the message and of its calls', () => {
    const extra = { extra_content: { google: { thought_signature: 'of the call' } } };
    const answer = messageOf({ content: 'x', ...echoed, tool_calls: [call(extra)] });

    expect(messageOnWire(answer)).to.deep.equal({
      role: 'assistant',
      content: 'x',
      tool_calls: [call(extra)],
      ...echoed,
    });
  });

  it('sends back content with thinking unchanged, and does not join its parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'h' }] },
      { type: 'thinking', thinking: [{ type: 'text', text: 'm' }], closed: true },
      { type: 'text', text: 'x' },
      { type: 'text', text: 'y' },
    ];

    expect(messageOnWire(messageOf({ content }))).to.deep.equal({ role: 'assistant', content });
  });

  it('sends back no fields that are absent or empty', () => {
    const empty = { reasoning: null, reasoning_content: '', reasoning_details: [] };

    expect(messageOf({ content: 'x', ...empty })).to.deep.equal({
      role: 'assistant',
      content: 'x',
    });
  });
});
