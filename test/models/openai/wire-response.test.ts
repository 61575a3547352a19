import { expect } from 'chai';
import { ModelCallError, Prompt, type AssistantMessage, type ChatResponse } from '../../../src/index.js';
import { fromWireResponse, toWireRequest } from '../../../src/models/openai/wire.js';
import type { Wire } from '../../../src/models/openai/wire-json.js';

const messageOnWire = (message: AssistantMessage): unknown => (toWireRequest([message], {}, false)['messages'] as readonly unknown[])[0];

describe('fromWireResponse', () => {
  const prompt = new Prompt('hi');
  const read = (message: Wire, choice: Wire = {}, body: Wire = {}): ChatResponse =>
    fromWireResponse({ choices: [{ index: 0, message, finish_reason: 'stop', ...choice }], ...body }, prompt);
  const messageOf = (message: Wire): AssistantMessage => read(message).message;
  const call = (more: Wire = {}): Wire => ({ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' }, ...more });

  it('reads text, finish reason, usage, id and model', () => {
    const response = read(
      { content: 'hi' },
      {},
      { id: 'r', model: 'm', usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
    );

    expect(response).to.deep.include({ id: 'r', model: 'm', usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } });
    expect(response.message).to.deep.equal({ role: 'assistant', text: 'hi', toolCalls: [] });
    expect(response.finishReason).to.equal('stop');
  });

  it('keeps fields that have no place of their own, if they say something', () => {
    const response = read(
      { content: '', annotations: [{ type: 'url' }], audio: null },
      { native_finish_reason: 'STOP', logprobs: { content: [{ token: 'a' }] }, stop_reason: null },
      { id: 'r', created: 1, object: 'x', system_fingerprint: 'f', citations: [], service_tier: null },
    );

    expect(response.metadata).to.deep.equal({ system_fingerprint: 'f' });
    expect(response.result?.metadata).to.deep.equal({
      annotations: [{ type: 'url' }],
      native_finish_reason: 'STOP',
      logprobs: { content: [{ token: 'a' }] },
    });
  });

  const texts: readonly (readonly [title: string, message: Wire, text: string | null, reasoning?: string])[] = [
    ['null content', { content: null }, ''],
    ['no content', {}, ''],
    ['no message', undefined as unknown as Wire, ''],
    ['null content beside calls', { content: null, tool_calls: [call()] }, null],
    ['empty content beside calls', { content: '', tool_calls: [call()] }, null],
    ['content beside calls', { content: 'wait', tool_calls: [call()] }, 'wait'],
    ['null content beside a refusal', { content: null, refusal: 'no' }, null],
    ['content parts', { content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }, { type: 'image_url' }, null] }, 'ab'],
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
    ['reasoning_details', { content: 'b', reasoning_details: [{ text: 'h' }, { summary: 'm' }, { data: 'x' }] }, 'b', 'hm'],
    ['reasoning and its details, once', { content: 'b', reasoning: 'hm', reasoning_details: [{ text: 'hm' }] }, 'b', 'hm'],
  ];
  for (const [title, message, text, reasoning] of texts) {
    it(`reads ${title}`, () => {
      expect(messageOf(message)).to.include({ text });
      expect(messageOf(message).reasoning).to.equal(reasoning);
    });
  }

  const calls: readonly (readonly [title: string, calls: unknown, expected: readonly (readonly [string, string, string])[]])[] = [
    ['no type', [call({ type: undefined })], [['a', 'f', '{}']]],
    ['an empty type', [call({ type: '' })], [['a', 'f', '{}']]],
    ['an index', [call({ index: 0 })], [['a', 'f', '{}']]],
    ['arguments as an object', [call({ function: { name: 'f', arguments: { x: [1] } } })], [['a', 'f', '{"x":[1]}']]],
    ['no arguments', [call({ function: { name: 'f' } })], [['a', 'f', '']]],
    ['null arguments', [call({ function: { name: 'f', arguments: null } })], [['a', 'f', '']]],
    ['a custom tool', [call({ type: 'custom', function: undefined, custom: { name: 'c' } }), call()], [['a', 'f', '{}']]],
    ['null', null, []],
    ['nothing', [], []],
  ];
  for (const [title, wire, expected] of calls) {
    it(`reads tool calls with ${title}`, () => {
      expect(messageOf({ tool_calls: wire }).toolCalls.map((one) => [one.id, one.name, one.arguments])).to.deep.equal(expected);
    });
  }

  it('[F22] gives every call an id of its own, whatever the provider sends', () => {
    const wire = ['a', 'a', '', null, undefined, 'null'].map((id) => call({ id }));
    const ids = messageOf({ tool_calls: wire }).toolCalls.map(({ id }) => id);

    expect(new Set(ids).size).to.equal(wire.length);
    expect(ids[0]).to.equal('a');
    expect(ids).to.not.include('');
  });

  for (const reason of ['', 'null', null, undefined]) {
    it(`takes the finish reason ${JSON.stringify(reason)} for none`, () => {
      expect(read({ content: 'x' }, { finish_reason: reason }).finishReason).to.equal(undefined);
    });
  }

  it('[F43] goes by the calls and not by the finish reason', () => {
    for (const finishReason of ['stop', 'tool_calls', 'eos', '', null, 'function_call'])
      for (const content of [null, '', 'text'])
        for (const toolCalls of [[], [call()]]) {
          const response = read({ content, tool_calls: toolCalls }, { finish_reason: finishReason });
          expect(response.hasToolCalls(), `${finishReason}, ${content}, ${toolCalls.length}`).to.equal(toolCalls.length > 0);
        }
  });

  it('[F57] keeps several choices apart, in order', () => {
    const body = { choices: ['a', 'b', 'c'].map((content, index) => ({ index, message: { content }, finish_reason: 'stop' })) };

    expect(fromWireResponse(body, prompt).generations.map(({ message }) => message.text)).to.deep.equal(['a', 'b', 'c']);
  });

  it('reads a choice that has a delta in place of the message', () => {
    expect(fromWireResponse({ choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] }, prompt).text).to.equal('x');
  });

  for (const body of [undefined, null, 'text', [], {}, { choices: null }, { choices: [] }, { choices: [null] }]) {
    it(`refuses ${JSON.stringify(body)}, which is no completion`, () => {
      expect(() => fromWireResponse(body, prompt)).to.throw(ModelCallError, 'no choices');
    });
  }

  const echoed: Wire = {
    reasoning_content: 'thought',
    reasoning: 'thought',
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 0 }],
    thought_signature: 'signature',
    extra_content: { google: { thought_signature: 'signature' } },
    thinking_blocks: [{ type: 'thinking', thinking: 'thought', signature: 's' }],
  };

  it('sends back unchanged what the provider wants to see again, of the message and of its calls', () => {
    const extra = { extra_content: { google: { thought_signature: 'of the call' } } };
    const answer = messageOf({ content: 'x', ...echoed, tool_calls: [call(extra)] });

    expect(messageOnWire(answer)).to.deep.equal({ role: 'assistant', content: 'x', tool_calls: [call(extra)], ...echoed });
  });

  it('sends back thinking parts as the content they were', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true },
      { type: 'text', text: 'x' },
    ];

    expect(messageOnWire(messageOf({ content }))).to.deep.equal({ role: 'assistant', content });
  });

  it('sends nothing back of an answer without such fields, nor of fields that are empty', () => {
    const empty = { reasoning: null, reasoning_content: '', reasoning_details: [] };

    expect(messageOf({ content: 'x', ...empty })).to.deep.equal({ role: 'assistant', text: 'x', toolCalls: [] });
  });
});
