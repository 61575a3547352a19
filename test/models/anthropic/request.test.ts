import { expect } from 'chai';
import type { ChatOptions, PromptCache } from '../../../src/index.js';
import type { JsonObject } from '../../../src/core/internal/options.js';
import { toOptionFields, toRequestBody } from '../../../src/models/anthropic/request.js';

const fieldsOnWire = (options: ChatOptions, cache?: PromptCache): JsonObject =>
  JSON.parse(
    JSON.stringify(toOptionFields({ model: 'm', promptCache: cache, ...options })),
  ) as JsonObject;

const inputSchema = { type: 'object', properties: { q: { type: 'string' } } };
const tool = (name: string, more: object = {}): { definition: never } => ({
  definition: { name, description: `${name}s`, inputSchema, ...more } as never,
});
const onWire = (name: string): JsonObject => ({
  name,
  description: `${name}s`,
  input_schema: inputSchema,
});
const ephemeral = (ttl: string): JsonObject => ({ cache_control: { type: 'ephemeral', ttl } });

describe('toOptionFields of the Messages API', () => {
  const cases: readonly (readonly [title: string, options: ChatOptions, wire: JsonObject])[] = [
    ['a limit of tokens, which the API requires', {}, { max_tokens: 8192 }],
    ['maxTokens', { maxTokens: 7 }, { max_tokens: 7 }],
    ['maxCompletionTokens', { maxTokens: 7, maxCompletionTokens: 9 }, { max_tokens: 9 }],
    [
      'sampling, also 0',
      { temperature: 0, topP: 0, topK: 3, stopSequences: ['x'] },
      { max_tokens: 8192, temperature: 0, top_p: 0, top_k: 3, stop_sequences: ['x'] },
    ],
    ['the user', { user: 'u' }, { max_tokens: 8192, metadata: { user_id: 'u' } }],
    ['effort', { reasoningEffort: 'low' }, { max_tokens: 8192, output_config: { effort: 'low' } }],
    [
      'nothing for options that this API does not have',
      { seed: 1, logprobs: true, topLogprobs: 2, frequencyPenalty: 1, presencePenalty: 1, metadata: { a: 'b' }, responseFormat: 'json' },
      { max_tokens: 8192 },
    ], // prettier-ignore
    [
      'no choice without tools',
      { toolChoice: 'required', parallelToolCalls: false },
      { max_tokens: 8192 },
    ],
  ];
  for (const [title, options, wire] of cases)
    it(`sends ${title}`, () => {
      expect(fieldsOnWire(options)).to.deep.equal({ model: 'm', ...wire });
    });

  const choices: readonly (readonly [ChatOptions, JsonObject | undefined])[] = [
    [{}, undefined],
    [{ parallelToolCalls: true }, undefined],
    [{ toolChoice: 'auto' }, { type: 'auto' }],
    [{ toolChoice: 'required' }, { type: 'any' }],
    [{ toolChoice: 'none', parallelToolCalls: false }, { type: 'none' }],
    [{ toolChoice: { tool: 'f' } }, { type: 'tool', name: 'f' }],
    [{ parallelToolCalls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [
      { toolChoice: 'required', parallelToolCalls: false },
      { type: 'any', disable_parallel_tool_use: true },
    ],
    [
      { toolChoice: { tool: 'f' }, parallelToolCalls: false },
      { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    ],
  ];
  for (const [options, wire] of choices)
    it(`sends the choice ${JSON.stringify(wire)} for ${JSON.stringify(options)}`, () => {
      expect(fieldsOnWire({ ...options, tools: [tool('f')] })['tool_choice']).to.deep.equal(wire);
    });

  it('sends tools, then tools of the provider', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };

    const { tools } = fieldsOnWire({
      tools: [tool('f'), tool('g', { description: '', deferLoading: true, strict: false })],
      providerTools: [search],
    });

    expect(tools).to.deep.equal([
      onWire('f'),
      { name: 'g', input_schema: inputSchema, defer_loading: true },
      search,
    ]);
  });

  it('sends strict tools with a closed schema, and not as strict if the API cannot enforce theirs', () => {
    const free = { type: 'object' };
    const { tools } = fieldsOnWire({
      strictTools: true,
      tools: [
        tool('f'),
        tool('g', { inputSchema: free }),
        tool('h', { strict: false }),
        tool('i', { inputSchema: free, strict: true }),
      ],
    });

    expect(tools).to.deep.equal([
      { ...onWire('f'), input_schema: { ...inputSchema, additionalProperties: false }, strict: true },
      { ...onWire('g'), input_schema: free },
      onWire('h'),
      { ...onWire('i'), input_schema: free, strict: true },
    ]); // prettier-ignore
  });

  it('sends a schema as the format of the answer, beside the effort', () => {
    const { output_config: config } = fieldsOnWire({
      reasoningEffort: 'high',
      responseFormat: { schema: inputSchema, name: 'answer' },
    });

    expect(config).to.deep.equal({
      effort: 'high',
      format: { type: 'json_schema', schema: { ...inputSchema, additionalProperties: false } },
    });
  });

  it('lets extraBody win, and merges it with the fields of metadata and output_config', () => {
    const fields = fieldsOnWire({
      user: 'u',
      reasoningEffort: 'low',
      toolChoice: { tool: 'f' },
      tools: [tool('f')],
      extraBody: {
        max_tokens: 5,
        metadata: { x: 1 },
        output_config: { task_budget: { total: 9 } },
        tool_choice: { type: 'any' },
        thinking: { type: 'adaptive' },
      },
    });

    expect(fields).to.deep.include({
      max_tokens: 5,
      metadata: { user_id: 'u', x: 1 },
      output_config: { effort: 'low', task_budget: { total: 9 } },
      tool_choice: { type: 'any' },
      thinking: { type: 'adaptive' },
    });
  });
});

describe('promptCache', () => {
  it('marks the last tool, the last system text and the last block', () => {
    const cache = { tools: '1h', system: '1h', messages: '5m' } as const;
    const fields = fieldsOnWire({ tools: [tool('f'), tool('g')] }, cache);

    const { system, messages, tools } = toRequestBody(
      [
        { role: 'system', content: 'a' },
        { role: 'system', content: 'b' },
        { role: 'user', content: 'c' },
        { role: 'assistant', content: 'd' },
        { role: 'user', content: 'e' },
      ],
      fields,
      false,
      cache,
    );

    expect(tools).to.deep.equal([onWire('f'), { ...onWire('g'), ...ephemeral('1h') }]);
    expect(system).to.deep.equal([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', ...ephemeral('1h') },
    ]);
    expect(messages).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'c' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'd' }] },
      { role: 'user', content: [{ type: 'text', text: 'e', ...ephemeral('5m') }] },
    ]);
  });

  it('marks a tool that the provider does not hide, and nothing if there is nothing to mark', () => {
    const hidden = tool('g', { deferLoading: true });

    expect(fieldsOnWire({ tools: [tool('f'), hidden] }, { tools: '5m' })['tools']).to.deep.equal([
      { ...onWire('f'), ...ephemeral('5m') },
      { ...onWire('g'), defer_loading: true },
    ]);
    expect(fieldsOnWire({ tools: [hidden] }, { tools: '5m' })['tools']).to.deep.equal([
      { ...onWire('g'), defer_loading: true },
    ]);
    expect(fieldsOnWire({}, { tools: '5m' })).to.not.have.property('tools');
  });

  it('leaves a mark of the application', () => {
    const own = { cache_control: { type: 'ephemeral' } };
    const part = { type: 'raw', value: { type: 'text', text: 'a', ...own } } as const;

    const { messages } = toRequestBody([{ role: 'user', content: [part] }], {}, false, {
      messages: '1h',
    });

    expect(messages).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'a', ...own }] },
    ]);
  });
});
