import { expect } from 'chai';
import { defineTool, Prompt, type ChatOptions, type Message } from '../../../../src/index.js';
import { toInput } from '../../../../src/models/openai/responses/input.js';
import {
  toOptionFields,
  toRequestBody,
  toRequestText,
} from '../../../../src/models/openai/responses/request.js';

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'string' } },
  required: ['a'],
};
const NOW = defineTool({ name: 'now', description: 'Time', input: SCHEMA, execute: () => '' });

/** The fields as they arrive. */
const fieldsOf = (options: ChatOptions): unknown =>
  JSON.parse(JSON.stringify(toOptionFields(options)));

describe('a request of the Responses API', () => {
  it('has options under the names of the API', () => {
    const fields = fieldsOf({
      model: 'gpt-5-mini',
      temperature: 0,
      topP: 0.5,
      maxTokens: 9,
      maxCompletionTokens: 10,
      logprobs: true,
      topLogprobs: 2,
      reasoningEffort: 'low',
      user: 'anna',
      metadata: { a: 'b' },
      responseFormat: 'json',
      parallelToolCalls: false,
      toolChoice: 'required',
    });

    expect(fields).to.deep.equal({
      model: 'gpt-5-mini',
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 10,
      top_logprobs: 2,
      include: ['message.output_text.logprobs'],
      reasoning: { effort: 'low' },
      user: 'anna',
      metadata: { a: 'b' },
      text: { format: { type: 'json_object' } },
    });
  });

  it('merges extraBody, which wins', () => {
    const fields = fieldsOf({
      reasoningEffort: 'low',
      responseFormat: 'text',
      temperature: 0,
      extraBody: {
        reasoning: { summary: 'auto' },
        text: { verbosity: 'low' },
        temperature: 1,
        previous_response_id: 'resp_0',
      },
    });

    expect(fields).to.deep.equal({
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'text' }, verbosity: 'low' },
      temperature: 1,
      previous_response_id: 'resp_0',
    });
  });

  it('asks for encrypted reasoning if the response is not stored, unless the caller sets what to include', () => {
    const include = ['reasoning.encrypted_content'];

    expect(fieldsOf({ extraBody: { store: false } })).to.deep.equal({ store: false, include });
    expect(fieldsOf({ extraBody: { store: false, include: [] } })).to.deep.equal({
      store: false,
      include: [],
    });
    expect(fieldsOf({ extraBody: { store: true } })).to.deep.equal({ store: true });
    expect(fieldsOf({})).to.deep.equal({});
  });

  it('has functions that are marked as strict or not, then tools of the provider', () => {
    const strict = defineTool({ name: 'exact', input: SCHEMA, strict: true, execute: () => '' });

    const fields = fieldsOf({
      tools: [NOW, strict],
      providerTools: [{ type: 'web_search' }],
      toolChoice: { tool: 'now' },
      parallelToolCalls: true,
    });

    expect(fields).to.deep.equal({
      tools: [
        { type: 'function', name: 'now', description: 'Time', parameters: SCHEMA, strict: false },
        {
          type: 'function',
          name: 'exact',
          description: 'exact',
          strict: true,
          parameters: {
            type: 'object',
            properties: { a: { type: 'string' }, b: { type: ['string', 'null'] } },
            required: ['a', 'b'],
            additionalProperties: false,
          },
        },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'function', name: 'now' },
      parallel_tool_calls: true,
    });
  });

  it('enforces the schemas of all tools with strictTools, and marks deferred ones', () => {
    const deferred = { definition: { ...NOW.definition, deferLoading: true, strict: false } };

    const { tools } = toOptionFields({ tools: [NOW, deferred], strictTools: true });

    expect((tools as readonly { strict: boolean }[]).map((tool) => tool.strict)).to.deep.equal([
      true,
      false,
    ]);
    expect(tools).to.have.nested.property('[1].defer_loading', true);
  });

  it('has the schema of the answer', () => {
    const { text } = toOptionFields({
      responseFormat: { schema: SCHEMA, name: 'pair', strict: false },
    });

    expect(text).to.deep.equal({
      format: { type: 'json_schema', name: 'pair', strict: false, schema: SCHEMA },
    });
  });

  it('has messages of the application and results of tools as items', () => {
    const input = toInput([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
      { role: 'tool', toolCallId: 'a', toolName: 'now', content: 'noon' },
      { role: 'tool', toolCallId: 'b', toolName: 'now', content: [{ type: 'text', text: 'one' }] },
      { role: 'tool', toolCallId: 'c', toolName: 'now', content: [] },
    ]);

    expect(input).to.deep.equal([
      { type: 'message', role: 'system', content: 'Be brief.' },
      { type: 'message', role: 'user', content: 'hi' },
      { type: 'function_call_output', call_id: 'a', output: 'noon' },
      { type: 'function_call_output', call_id: 'b', output: 'one' },
      { type: 'function_call_output', call_id: 'c', output: '' },
    ]);
  });

  it('has media of messages and of results as parts', () => {
    const content = [
      { type: 'text', text: 'what?' },
      { type: 'image', url: 'https://a.example/a.png' },
      { type: 'image', data: new Uint8Array([1, 2]), mediaType: 'image/png' },
      { type: 'audio', data: 'AQI=', mediaType: 'audio/mpeg' },
      { type: 'file', url: 'https://a.example/a.pdf' },
      { type: 'file', data: 'AQI=', mediaType: 'application/pdf' },
      { type: 'raw', value: { type: 'input_image', file_id: 'file_1' } },
    ] as const;
    const parts = [
      { type: 'input_text', text: 'what?' },
      { type: 'input_image', image_url: 'https://a.example/a.png', detail: 'auto' },
      { type: 'input_image', image_url: 'data:image/png;base64,AQI=', detail: 'auto' },
      { type: 'input_audio', input_audio: { data: 'AQI=', format: 'mp3' } },
      { type: 'input_file', file_url: 'https://a.example/a.pdf' },
      {
        type: 'input_file',
        filename: 'file.pdf',
        file_data: 'data:application/pdf;base64,AQI=',
      },
      { type: 'input_image', file_id: 'file_1' },
    ];

    const input = toInput([
      { role: 'user', content },
      { role: 'tool', toolCallId: 'a', toolName: 'look', content },
    ]);

    expect(input).to.deep.equal([
      { type: 'message', role: 'user', content: parts },
      { type: 'function_call_output', call_id: 'a', output: parts },
    ]);
  });

  it('has raw parts that are items of their own between the parts of a message', () => {
    const approval = { type: 'mcp_approval_response', approval_request_id: 'r', approve: true };

    const input = toInput([
      {
        role: 'user',
        content: [
          { type: 'raw', value: approval },
          { type: 'text', text: 'more' },
        ],
      },
    ]);

    expect(input).to.deep.equal([
      approval,
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'more' }] },
    ]);
  });

  it('is the same as text and as object, for prompts that grow', () => {
    const messages: Message[] = [{ role: 'system', content: 'Be brief.' }];
    const fields = toOptionFields({ model: 'm', tools: [NOW], extraBody: { store: false } });
    let prompt = new Prompt(messages);

    for (const content of ['one', 'two "2"', '']) {
      prompt = prompt.append({ role: 'user', content });

      expect(JSON.parse(toRequestText(prompt, fields))).to.deep.equal(
        JSON.parse(JSON.stringify(toRequestBody(prompt.messages, fields))),
      );
    }
  });

  it('leaves the items to an extra field of the caller', () => {
    const fields = toOptionFields({ model: 'm', extraBody: { input: 'my own' } });

    expect(JSON.parse(toRequestText(new Prompt('hi'), fields))).to.deep.equal({
      model: 'm',
      input: 'my own',
    });
  });
});
