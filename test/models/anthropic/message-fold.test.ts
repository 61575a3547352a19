import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import { IncompleteResponseError, ModelCallError } from '../../../src/index.js';
import type { JsonObject } from '../../../src/core/internal/options.js';
import { MessageFold } from '../../../src/models/anthropic/message-fold.js';
import { eventsOf, foldDocument, foldEvents, message } from './message-events.js';

const thinking = { type: 'thinking', thinking: 'Hmm, hm.', signature: 'c2ln' };
const redacted = { type: 'redacted_thinking', data: 'eHh4' };
const citation = { type: 'char_location', cited_text: 'Grass is green.', document_index: 0 };
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: [1, 'x'] } };
const text = (value: string): JsonObject => ({ type: 'text', text: value });
const serverTool = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
  { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ url: 'https://x' }] },
];

/** Messages of every kind. */
const messages: Readonly<Record<string, JsonObject>> = {
  'a text': message([text('Hello')]),
  'no content': message([]),
  'thinking before a text': message([thinking, redacted, text('Hello')]),
  'thinking between calls': message([thinking, text('a'), use, { ...thinking, signature: 'Mg==' }, { ...use, id: 'toolu_2' }], 'tool_use'),
  'a call without arguments': message([{ ...use, input: {} }], 'tool_use'),
  'a call of a program': message([{ ...use, caller: { type: 'code_execution', tool_id: 'srvtoolu_1' } }], 'tool_use'),
  'a text with citations': message([text('So '), { ...text('it is'), citations: [citation, citation] }]),
  'tools of the provider': message([text('I look.'), ...serverTool, text('Found.')], 'pause_turn'),
  'a block of a type that is not known': message([{ type: 'compaction', content: 'all of it' }, text('a')]),
  'a refusal': message([text('I')], 'refusal', { stop_details: { type: 'refusal', category: 'bio', explanation: 'Too risky.' } }),
  'a stop sequence': message([text('a')], 'stop_sequence', { stop_sequence: 'X' }),
  'a cut text': message([text('a')], 'model_context_window_exceeded'),
}; // prettier-ignore

describe('MessageFold', () => {
  for (const [title, whole] of Object.entries(messages))
    it(`has the same response of a stream and of a document with ${title}`, () => {
      const { response, emitted } = foldEvents(eventsOf(whole));

      expect(response).to.deep.equal(foldDocument(whole));
      const deltas = emitted.map((event) => (event.type === 'text-delta' ? event.text : ''));
      expect(deltas.join('')).to.equal(response.text ?? '');
      const reasoning = emitted.map((event) =>
        event.type === 'reasoning-delta' ? event.text : '',
      );
      expect(reasoning.join('')).to.equal(response.message.reasoning ?? '');
    });

  it('reads text, id, model and finish reason', () => {
    expect(foldDocument(message([text('Hello')]))).to.deep.include({
      text: 'Hello',
      id: 'msg_1',
      model: 'claude',
      finishReason: 'end_turn',
    });
  });

  it('keeps every text and call of a server that announces or ends no blocks', () => {
    const delta = (fields: JsonObject) => ({
      type: 'content_block_delta',
      index: 0,
      delta: fields,
    });
    const { response } = foldEvents([
      { type: 'message_start', message: message([]) },
      delta({ type: 'thinking_delta', thinking: 'hm' }),
      delta({ type: 'text_delta', text: 'Hello' }),
      { type: 'content_block_start', index: 0, content_block: use },
      { type: 'content_block_start', index: 0, content_block: { ...use, id: 'toolu_2' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ]);

    const { content: answer, reasoning, toolCalls = [] } = response.message;
    expect([answer, reasoning]).to.deep.equal(['Hello', 'hm']);
    expect(toolCalls.map((call) => call.arguments)).to.deep.equal([
      '{"a":[1,"x"]}',
      '{"a":[1,"x"]}',
    ]);
  });

  it('emits each piece of a text, of thinking and of a call', () => {
    const { emitted } = foldEvents([
      { type: 'message_start', message: message([]) },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'a' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'b' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: '' } },
      { type: 'content_block_start', index: 2, content_block: { ...use, input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a"' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: ':1}' } },
      { type: 'content_block_stop', index: 2 },
    ]); // prettier-ignore

    expect(emitted).to.deep.equal([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'a' },
      { type: 'text-delta', text: 'b' },
      { type: 'tool-call-delta', index: 0, id: 'toolu_1', name: 'f', arguments: '' },
      { type: 'tool-call-delta', index: 0, arguments: '{"a"' },
      { type: 'tool-call-delta', index: 0, arguments: ':1}' },
    ]);
  });

  it('has arguments exactly as the model wrote them, also if they are no JSON', () => {
    const { response } = foldEvents([
      { type: 'message_start', message: message([], 'tool_use') },
      { type: 'content_block_start', index: 0, content_block: { ...use, input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ' {"a":' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { ...use, id: 'b', input: {} } },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { ...use, id: 'c' } },
    ]); // prettier-ignore

    expect(callsOf(response.message).map((call) => call.arguments)).to.deep.equal([
      ' {"a":',
      '{}',
      '{"a":[1,"x"]}',
    ]);
  });

  it('reads input that came as text, or not at all', () => {
    const { toolCalls = [] } = foldDocument(
      message([
        { ...use, input: '{"a":1}' },
        { ...use, id: 'b', input: null },
      ]),
    ).message;

    expect(toolCalls.map((call) => call.arguments)).to.deep.equal(['{"a":1}', '{}']);
  });

  it('has citations, and details of the stop in the metadata of the generation', () => {
    const { result } = foldDocument(
      message([{ ...text('a'), citations: [citation] }, text('b')], 'stop_sequence', {
        stop_sequence: 'X',
      }),
    );

    expect(result?.citations).to.deep.equal([
      { text: 'Grass is green.', start: 0, end: 1, raw: citation },
    ]);
    expect(result?.metadata).to.deep.equal({ stop_sequence: 'X' });
  });

  it('has the explanation of a refusal beside the text', () => {
    const { message: refused, result } = foldDocument(messages['a refusal'] as JsonObject);

    expect(refused).to.include({ content: 'I', refusal: 'Too risky.' });
    expect(result?.metadata?.['stop_details']).to.include({ category: 'bio' });
    expect(foldDocument(message([], 'refusal')).message).to.not.have.property('refusal');
  });

  it('counts all input, with what the cache has read and written', () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 5,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 300,
      output_tokens_details: { thinking_tokens: 4 },
      server_tool_use: { web_search_requests: 2 },
      service_tier: 'standard',
      inference_geo: null,
    };

    const response = foldDocument(message([text('a')], 'end_turn', { usage }));

    expect(response.usage).to.deep.equal({
      inputTokens: 321,
      outputTokens: 5,
      totalTokens: 326,
      cachedInputTokens: 20,
      cacheWriteTokens: 300,
      reasoningTokens: 4,
    });
    expect(response.metadata).to.deep.equal({
      usage: { server_tool_use: { web_search_requests: 2 }, service_tier: 'standard' },
    });
  });

  it('takes later counts of a stream in place of earlier ones, but no null', () => {
    const { response } = foldEvents([
      { type: 'message_start', message: message([], '', { usage: { input_tokens: 9, output_tokens: 1, cache_read_input_tokens: 2 } }) },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: null, output_tokens: 7 } },
    ]); // prettier-ignore

    expect(response.usage).to.deep.equal({
      inputTokens: 11,
      outputTokens: 7,
      totalTokens: 18,
      cachedInputTokens: 2,
    });
  });

  it('has no usage if none was reported', () => {
    expect(foldDocument(message([text('a')], 'end_turn', { usage: null })).usage).to.equal(
      undefined,
    );
  });

  it('keeps other fields of the message and of its last event', () => {
    const container = { id: 'container_1' };
    const { response } = foldEvents([
      { type: 'message_start', message: message([], '', { context_management: null }) },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', container }, context_management: { applied_edits: [1] } },
    ]); // prettier-ignore

    expect(response.metadata).to.deep.equal({
      container,
      context_management: { applied_edits: [1] },
    });
  });

  it('passes over events, deltas and blocks that it does not know or that lack a part', () => {
    const { response, emitted } = foldEvents([
      { type: 'message_start' },
      { type: 'hint', text: 'x' },
      {},
      { type: 'content_block_start', index: 0 },
      { type: 'content_block_delta', index: 0, delta: { type: 'glow_delta', glow: 1 } },
      { type: 'content_block_delta', index: 7, delta: { type: 'glow_delta', glow: 1 } },
      { type: 'content_block_delta', index: 7, delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'content_block_delta', index: 0 },
      { type: 'content_block_stop', index: 9 },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'a' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: null } },
      { type: 'message_delta', delta: null },
      { type: 'message_stop' },
    ]); // prettier-ignore

    expect(response.text).to.equal('a');
    expect(emitted).to.deep.equal([{ type: 'text-delta', text: 'a' }]);
  });

  it('appends the texts of deltas that it does not know', () => {
    const compaction = (content: string): JsonObject => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'compaction_delta', content },
    });
    const { response } = foldEvents([
      { type: 'message_start', message: message([]) },
      { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: null } },
      compaction('a'),
      compaction('b'),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_stop' },
    ]); // prettier-ignore

    expect(response.message.metadata).to.deep.equal({
      anthropic: { content: [{ type: 'compaction', content: 'ab' }] },
    });
  });

  it('is finished by a stop reason and ended by its own event', () => {
    const fold = new MessageFold(() => undefined);
    const states = eventsOf(message([text('a')])).map((event) => {
      fold.addEvent(event);
      return [fold.finished, fold.ended];
    });

    expect(states.at(-3)).to.deep.equal([false, false]);
    expect(states.at(-2)).to.deep.equal([true, false]);
    expect(states.at(-1)).to.deep.equal([true, true]);
  });

  it('rejects a stream without a stop reason, and one without a message', () => {
    const events = eventsOf(message([text('Hello')]));

    expect(() => foldEvents(events.slice(0, -2)))
      .to.throw(IncompleteResponseError)
      .that.includes({ partialText: 'Hello' })
      .and.has.property('usage')
      .that.includes({ inputTokens: 3 });
    expect(() => foldEvents([{ type: 'message_stop' }])).to.throw(IncompleteResponseError);
  });

  it('rejects a document of another API', () => {
    for (const document of [{ choices: [] }, null, [1], 'ok'])
      expect(() => foldDocument(document as never))
        .to.throw(ModelCallError)
        .with.property('message')
        .that.matches(/not with a message/);
  });

  it('reads a document whose content is a text', () => {
    expect(foldDocument(message('Hello' as never)).text).to.equal('Hello');
  });
});
