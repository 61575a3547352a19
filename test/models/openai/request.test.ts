import { expect } from 'chai';
import type { ChatOptions, Message, ToolMessage } from '../../../src/index.js';
import {
  toOptionFields,
  toRequestBody,
  toStreamFields,
} from '../../../src/models/openai/request.js';
import type { JsonObject } from '../../../src/core/internal/options.js';

const fieldsOnWire = (options: ChatOptions): JsonObject =>
  JSON.parse(JSON.stringify(toOptionFields(options))) as JsonObject;
const messageOnWire = (message: Message): unknown =>
  (toRequestBody([message], {})['messages'] as readonly unknown[])[0];
const tool = (
  name: string,
  strict?: boolean,
): {
  definition: { name: string; description: string; inputSchema: JsonObject; strict?: boolean };
} => ({
  definition: {
    name,
    description: `${name}s`,
    inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
    ...(strict !== undefined && { strict }),
  },
});

describe('toRequestBody', () => {
  const messages: readonly (readonly [title: string, message: Message, wire: unknown])[] = [
    [
      'a system message',
      { role: 'system', content: 'be nice' },
      { role: 'system', content: 'be nice' },
    ],
    ['a user message', { role: 'user', content: 'hi' }, { role: 'user', content: 'hi' }],
    ['an answer', { role: 'assistant', content: 'ho' }, { role: 'assistant', content: 'ho' }],
    [
      'an answer without text',
      { role: 'assistant', content: null },
      { role: 'assistant', content: '' },
    ],
    [
      'a refusal',
      { role: 'assistant', content: null, refusal: 'no' },
      { role: 'assistant', content: null, refusal: 'no' },
    ],
    [
      'tool calls, with empty arguments as an object',
      { role: 'assistant', content: null, toolCalls: [{ id: 'a', name: 'f', arguments: ' {"x": 1}' }, { id: 'b', name: 'g', arguments: '' }] }, // prettier-ignore
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
      { role: 'assistant', content: 'wait', toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] },
      {
        role: 'assistant',
        content: 'wait',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
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

  it('[TOL-29] sends the media of results in a user message after all results of the batch', () => {
    const image = { type: 'image', url: 'https://x/a.png' } as const;
    const result = (id: string, content: ToolMessage['content']): ToolMessage => ({
      role: 'tool',
      toolCallId: id,
      toolName: 'f',
      content,
    });
    const raw = {
      type: 'raw',
      value: { type: 'image_url', image_url: { url: 'https://x/b.png' } },
    } as const;
    const { messages: sent } = toRequestBody(
      [
        result('a', [{ type: 'text', text: 'A chart:' }, image]),
        result('b', 'text'),
        result('c', [image, raw]),
        { role: 'assistant', content: 'ok' },
      ],
      {},
    );

    const from = (id: string): object => ({ type: 'text', text: `From the tool f (call ${id}):` });
    const named = { type: 'text', text: '[image: see the message after the results]' };
    const picture = { type: 'image_url', image_url: { url: 'https://x/a.png' } };
    expect(sent).to.deep.equal([
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'A chart:' }, named] },
      { role: 'tool', tool_call_id: 'b', content: 'text' },
      { role: 'tool', tool_call_id: 'c', content: [named, raw.value] },
      { role: 'user', content: [from('a'), picture, from('c'), picture] },
      { role: 'assistant', content: 'ok' },
    ]);
  });
});

describe('toStreamFields', () => {
  it('requests a stream and its usage', () => {
    expect(toStreamFields({ model: 'm' }, true)).to.deep.equal({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('requests no usage if it is disabled, and keeps stream_options of extraBody', () => {
    expect(toStreamFields({ stream: false }, false)).to.deep.equal({ stream: true });
    expect(toStreamFields({ stream_options: { x: 1 } }, true)).to.deep.include({
      stream_options: { x: 1 },
    });
  });
});

describe('toOptionFields', () => {
  const options: readonly (readonly [title: string, options: ChatOptions, wire: JsonObject])[] = [
    ['nothing for no options', {}, {}],
    ['nothing for undefined', { temperature: undefined, tools: [] }, {}],
    ['the model', { model: 'm' }, { model: 'm' }],
    ['temperature and topP, also 0', { temperature: 0, topP: 0 }, { temperature: 0, top_p: 0 }],
    [
      'topK and penalties',
      { topK: 3, frequencyPenalty: -1, presencePenalty: 2 },
      { top_k: 3, frequency_penalty: -1, presence_penalty: 2 },
    ],
    ['maxTokens', { maxTokens: 9 }, { max_tokens: 9 }],
    [
      'maxCompletionTokens, which beats maxTokens',
      { maxTokens: 9, maxCompletionTokens: 7 },
      { max_completion_tokens: 7 },
    ],
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
    it(`maps ${title}`, () => {
      expect(fieldsOnWire(given)).to.deep.equal(wire);
    });
  }

  it('[OAI-12] maps tools in their order, not strict', () => {
    expect(fieldsOnWire({ tools: [tool('b'), tool('a')] })['tools']).to.deep.equal(
      ['b', 'a'].map((name) => ({
        type: 'function',
        function: { name, description: `${name}s`, parameters: tool(name).definition.inputSchema },
      })),
    );
  });

  it('marks deferred tools and appends the tools of the provider unchanged', () => {
    const deferred = { definition: { ...tool('b').definition, deferLoading: true } };
    const wire = fieldsOnWire({
      tools: [tool('a'), deferred],
      providerTools: [{ type: 'tool_search' }],
    })['tools'] as JsonObject[];

    expect(wire.map(({ type, defer_loading: isDeferred }) => [type, isDeferred])).to.deep.equal([
      ['function', undefined],
      ['function', true],
      ['tool_search', undefined],
    ]);
    expect(wire[0]).not.to.have.property('defer_loading');
    expect(fieldsOnWire({ providerTools: [{ type: 'web_search' }] })).to.deep.equal({
      tools: [{ type: 'web_search' }],
    });
  });

  it('[OAI-12] makes schemas strict by tool or by option; the tool wins', () => {
    const wire = fieldsOnWire({ strictTools: true, tools: [tool('a'), tool('b', false)] })[
      'tools'
    ] as { function: JsonObject }[];

    expect(wire[0]?.function).to.deep.include({
      strict: true,
      parameters: {
        type: 'object',
        properties: { q: { type: ['string', 'null'] } },
        required: ['q'],
        additionalProperties: false,
      },
    });
    expect(wire[1]?.function).to.deep.include({
      strict: false,
      parameters: tool('b').definition.inputSchema,
    });
  });

  const choices: readonly (readonly [ChatOptions['toolChoice'], unknown])[] = [
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ tool: 'a' }, { type: 'function', function: { name: 'a' } }],
  ];
  for (const [choice, wire] of choices) {
    it(`[OAI-11] maps the tool choice ${JSON.stringify(choice)} together with tools`, () => {
      expect(
        fieldsOnWire({ tools: [tool('a')], toolChoice: choice, parallelToolCalls: false }),
      ).to.deep.include({
        tool_choice: wire,
        parallel_tool_calls: false,
      });
    });
  }

  it('[SOV-24] maps a schema to the response format, strict by default', () => {
    const schema = { type: 'object', properties: { q: { type: 'string' } } };
    const formatOf = (format: object): unknown =>
      (fieldsOnWire({ responseFormat: { schema, ...format } })['response_format'] as JsonObject)[
        'json_schema'
      ];

    expect(formatOf({})).to.deep.equal({
      name: 'response',
      strict: true,
      schema: {
        type: 'object',
        properties: { q: { type: ['string', 'null'] } },
        required: ['q'],
        additionalProperties: false,
      },
    });
    expect(formatOf({ name: 'n', strict: false })).to.deep.equal({
      name: 'n',
      strict: false,
      schema,
    });
  });
});
