import { expect } from 'chai';
import {
  InvalidArgumentError,
  ModelCallError,
  Prompt,
  type AssistantMessage,
  type ChatOptions,
  type ChatResponse,
  type ContentPart,
  type Message,
} from '../../../src/index.js';
import { fromWireResponse, toWireOptions, toWireRequest } from '../../../src/models/openai/wire.js';
import type { Wire } from '../../../src/models/openai/wire-json.js';

const messageOnWire = (message: Message): unknown => (toWireRequest([message], {}, false)['messages'] as readonly unknown[])[0];
const partOnWire = (part: ContentPart): unknown => (messageOnWire({ role: 'user', content: [part] }) as { content: unknown[] }).content[0];
const tool = (
  name: string,
  strict?: boolean,
): { definition: { name: string; description: string; inputSchema: Wire; strict?: boolean } } => ({
  definition: {
    name,
    description: `${name}s`,
    inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
    ...(strict !== undefined && { strict }),
  },
});

describe('toWireRequest', () => {
  const messages: readonly (readonly [title: string, message: Message, wire: unknown])[] = [
    ['a system message', { role: 'system', text: 'be nice' }, { role: 'system', content: 'be nice' }],
    ['a user message', { role: 'user', content: 'hi' }, { role: 'user', content: 'hi' }],
    ['an answer', { role: 'assistant', text: 'ho', toolCalls: [] }, { role: 'assistant', content: 'ho' }],
    ['an answer without text', { role: 'assistant', text: null, toolCalls: [] }, { role: 'assistant', content: '' }],
    ['a refusal', { role: 'assistant', text: null, toolCalls: [], refusal: 'no' }, { role: 'assistant', content: null, refusal: 'no' }],
    [
      'tool calls, with empty arguments as an object',
      { role: 'assistant', text: null, toolCalls: [{ id: 'a', name: 'f', arguments: ' {"x": 1}' }, { id: 'b', name: 'g', arguments: '' }] }, // prettier-ignore
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: ' {"x": 1}' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
    ],
    [
      'text beside tool calls',
      { role: 'assistant', text: 'wait', toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] },
      { role: 'assistant', content: 'wait', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    ],
    [
      'a tool result',
      { role: 'tool', toolCallId: 'a', toolName: 'f', content: '42', isError: true },
      { role: 'tool', tool_call_id: 'a', content: '42' },
    ],
    [
      'a tool result of parts',
      { role: 'tool', toolCallId: 'a', toolName: 'f', content: [{ type: 'text', text: '42' }] },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: '42' }] },
    ],
  ];
  for (const [title, message, wire] of messages) {
    it(`maps ${title}`, () => {
      expect(messageOnWire(message)).to.deep.equal(wire);
    });
  }

  const bytes = new Uint8Array([0, 255, 128]);
  const parts: readonly (readonly [title: string, part: ContentPart, wire: unknown])[] = [
    ['text', { type: 'text', text: 'hi' }, { type: 'text', text: 'hi' }],
    ['an image by address', { type: 'image', url: 'https://x/a.png' }, { type: 'image_url', image_url: { url: 'https://x/a.png' } }],
    [
      'an image by base64 text',
      { type: 'image', data: 'AAAA', mediaType: 'image/png' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ],
    [
      'an image by bytes',
      { type: 'image', data: bytes, mediaType: 'image/gif' },
      { type: 'image_url', image_url: { url: 'data:image/gif;base64,AP+A' } },
    ],
    [
      'audio',
      { type: 'audio', data: bytes, mediaType: 'audio/wav' },
      { type: 'input_audio', input_audio: { data: 'AP+A', format: 'wav' } },
    ],
    [
      'audio of type mpeg',
      { type: 'audio', data: '', mediaType: 'audio/mpeg' },
      { type: 'input_audio', input_audio: { data: '', format: 'mp3' } },
    ],
    [
      'audio of type x-wav',
      { type: 'audio', data: '', mediaType: 'audio/x-wav' },
      { type: 'input_audio', input_audio: { data: '', format: 'wav' } },
    ],
    [
      'a file',
      { type: 'file', data: 'AAAA', mediaType: 'application/pdf', name: 'a.pdf' },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    ],
    [
      'a file without a name',
      { type: 'file', data: 'AAAA', mediaType: 'application/pdf' },
      { type: 'file', file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    ],
    ['a raw part untouched', { type: 'raw', value: { type: 'video_url', x: [1] } }, { type: 'video_url', x: [1] }],
  ];
  for (const [title, part, wire] of parts) {
    it(`maps ${title} in a user message`, () => {
      expect(partOnWire(part)).to.deep.equal(wire);
    });
  }

  it('refuses audio by address, since servers take its content only', () => {
    expect(() => partOnWire({ type: 'audio', url: 'https://x/a.wav' })).to.throw(InvalidArgumentError, '`data`');
  });

  it('asks for a stream and for its usage', () => {
    expect(toWireRequest([], { model: 'm' }, { usage: true })).to.deep.equal({
      messages: [],
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('does not ask for usage where that is switched off, and leaves stream_options of extraBody alone', () => {
    expect(toWireRequest([], {}, { usage: false })).to.deep.equal({ messages: [], stream: true });
    expect(toWireRequest([], { stream_options: { x: 1 } }, { usage: true })).to.deep.include({ stream_options: { x: 1 } });
  });
});

describe('toWireOptions', () => {
  const options: readonly (readonly [title: string, options: ChatOptions, wire: Wire])[] = [
    ['nothing for no options', {}, {}],
    ['nothing for undefined', { temperature: undefined, tools: [] }, {}],
    ['the model', { model: 'm' }, { model: 'm' }],
    ['temperature and topP, also 0', { temperature: 0, topP: 0 }, { temperature: 0, top_p: 0 }],
    ['topK and penalties', { topK: 3, frequencyPenalty: -1, presencePenalty: 2 }, { top_k: 3, frequency_penalty: -1, presence_penalty: 2 }],
    ['maxTokens', { maxTokens: 9 }, { max_tokens: 9 }],
    ['maxCompletionTokens, which beats maxTokens', { maxTokens: 9, maxCompletionTokens: 7 }, { max_completion_tokens: 7 }],
    ['stop sequences and seed', { stopSequences: ['a'], seed: 0 }, { stop: ['a'], seed: 0 }],
    ['logprobs', { logprobs: false, topLogprobs: 0 }, { logprobs: false, top_logprobs: 0 }],
    ['reasoning effort', { reasoningEffort: 'low' }, { reasoning_effort: 'low' }],
    ['user and metadata', { user: 'u', metadata: { a: 'b' } }, { user: 'u', metadata: { a: 'b' } }],
    ['the format text', { responseFormat: 'text' }, { response_format: { type: 'text' } }],
    ['the format json', { responseFormat: 'json' }, { response_format: { type: 'json_object' } }],
    [
      'extraBody, which wins',
      { temperature: 1, model: 'm', extraBody: { temperature: 2, top_a: 3 } },
      { temperature: 2, model: 'm', top_a: 3 },
    ],
    ['no tool choice without tools', { toolChoice: 'required', parallelToolCalls: false }, {}],
  ];
  for (const [title, given, wire] of options) {
    it(`gives ${title}`, () => {
      expect(toWireOptions(given)).to.deep.equal(wire);
    });
  }

  it('gives tools in their order', () => {
    expect(toWireOptions({ tools: [tool('b'), tool('a')] })['tools']).to.deep.equal(
      ['b', 'a'].map((name) => ({
        type: 'function',
        function: { name, description: `${name}s`, parameters: tool(name).definition.inputSchema },
      })),
    );
  });

  it('makes schemas strict where the tool or the option says so; the tool wins', () => {
    const wire = toWireOptions({ strictTools: true, tools: [tool('a'), tool('b', false)] })['tools'] as { function: Wire }[];

    expect(wire[0]?.function).to.deep.include({
      strict: true,
      parameters: { type: 'object', properties: { q: { type: ['string', 'null'] } }, required: ['q'], additionalProperties: false },
    });
    expect(wire[1]?.function).to.deep.include({ strict: false, parameters: tool('b').definition.inputSchema });
  });

  const choices: readonly (readonly [ChatOptions['toolChoice'], unknown])[] = [
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ tool: 'a' }, { type: 'function', function: { name: 'a' } }],
  ];
  for (const [choice, wire] of choices) {
    it(`gives the tool choice ${JSON.stringify(choice)} together with tools`, () => {
      expect(toWireOptions({ tools: [tool('a')], toolChoice: choice, parallelToolCalls: false })).to.deep.include({
        tool_choice: wire,
        parallel_tool_calls: false,
      });
    });
  }

  it('gives a schema as the response format, strict unless told otherwise', () => {
    const schema = { type: 'object', properties: { q: { type: 'string' } } };
    const formatOf = (format: object): unknown =>
      (toWireOptions({ responseFormat: { schema, ...format } })['response_format'] as Wire)['json_schema'];

    expect(formatOf({})).to.deep.equal({
      name: 'response',
      strict: true,
      schema: { type: 'object', properties: { q: { type: ['string', 'null'] } }, required: ['q'], additionalProperties: false },
    });
    expect(formatOf({ name: 'n', strict: false })).to.deep.equal({ name: 'n', strict: false, schema });
  });
});

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
