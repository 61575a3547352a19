import { callsOf } from '../../../../src/core/chat/message.js';
import { expect } from 'chai';
import { decodeMessage, encodeMessage, type AssistantMessage } from '../../../../src/index.js';
import { toInput } from '../../../../src/models/openai/responses/input.js';
import { ResponsesFold } from '../../../../src/models/openai/responses/responses-fold.js';
import type { Json } from '../../../support/cassettes.js';
import { ITEMS, messageOf, responseOf } from '../../../support/responses-answers.js';

const [REASONING, SEARCH, MESSAGE, CALL] = ITEMS;
const MCP = [
  { id: 'mcpl_1', type: 'mcp_list_tools', server_label: 's', tools: [{ name: 'x' }] },
  { id: 'mcp_1', type: 'mcp_call', server_label: 's', name: 'x', arguments: '{}', output: 'ok' },
  { id: 'ci_1', type: 'code_interpreter_call', code: '1', container_id: 'c', outputs: null },
  { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_9', name: 'sql', input: 'select 1' },
] as const;

/** The message of an answer, after it has been in a memory. */
function messageFrom(
  output: readonly unknown[],
  more: Json = {},
  isStored = true,
): AssistantMessage {
  const fold = new ResponsesFold(() => undefined, isStored);
  fold.addDocument(responseOf(output, more));
  return decodeMessage(encodeMessage(fold.response(undefined).message)) as AssistantMessage;
}

const reasoning = (fields: Json): Json => ({ type: 'reasoning', summary: [], ...fields });

describe('items of an answer in the next request', () => {
  it('come back in their order, as the provider made them', () => {
    const sent = toInput([messageFrom(ITEMS)]);

    const { logprobs: _logprobs, ...part } = MESSAGE.content[0];
    expect(sent).to.deep.equal([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: REASONING.summary,
        encrypted_content: 'gAAA',
      },
      SEARCH,
      { ...MESSAGE, content: [part] },
      CALL,
    ]);
  });

  it('include the items of tools that the provider has run', () => {
    const output = [...MCP, messageOf('done')];

    expect(toInput([messageFrom(output)])).to.deep.equal(output);
  });

  it('are not kept if text and calls make the same request', () => {
    const { namespace: _namespace, ...call } = CALL;
    const message = messageFrom([messageOf('I look.'), call]);

    expect(message).to.not.have.property('metadata');
    expect(toInput([message])).to.deep.equal([
      { type: 'message', role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'call_1', name: 'now', arguments: '{"zone":"UTC"}' },
    ]);
  });

  it('have no ids that the server does not know, unless their text shows that it needs none', () => {
    const open = { id: 'rs_2', content: [{ type: 'reasoning_text', text: 'hm' }] };
    const output = [REASONING, reasoning(open), MESSAGE, CALL];

    const sent = toInput([messageFrom(output, { store: false })]);

    expect(sent.map(({ id }) => id)).to.deep.equal([undefined, 'rs_2', undefined, undefined]);
    expect(sent[1]).to.deep.equal(reasoning(open));
  });

  it('follow the request about storing if the response has no such field', () => {
    const stored = toInput([messageFrom(ITEMS, {}, true)]);
    const other = toInput([messageFrom(ITEMS, {}, false)]);

    expect([stored[0]?.['id'], other[0]?.['id']]).to.deep.equal(['rs_1', undefined]);
  });

  it('leave out reasoning that the server could not read again', () => {
    const summary = [{ type: 'summary_text', text: 'First.' }];
    const output = [reasoning({ id: 'rs_1', summary }), messageOf('Hi')];

    expect(toInput([messageFrom(output, { store: false })])).to.deep.equal([
      { type: 'message', role: 'assistant', content: 'Hi' },
    ]);
    expect(toInput([messageFrom(output, { store: true })])).to.deep.equal(output);
  });

  it('leave out reasoning that nothing follows', () => {
    const message = messageFrom([messageOf('Hi'), REASONING], { status: 'incomplete' });

    expect(toInput([message])).to.deep.equal([messageOf('Hi')]);
  });

  it('give way to a text that an advisor has changed, and so does the reasoning before it', () => {
    const message = { ...messageFrom(ITEMS), content: 'Changed.' };
    const direct = { ...messageFrom([REASONING, MESSAGE, CALL]), content: 'Changed.' };

    expect(toInput([message]).map(({ type }) => type)).to.deep.equal([
      'reasoning',
      'web_search_call',
      'message',
      'function_call',
    ]);
    expect(toInput([message])[2]).to.deep.equal({
      type: 'message',
      role: 'assistant',
      content: 'Changed.',
    });
    expect(toInput([direct]).map(({ type }) => type)).to.deep.equal(['message', 'function_call']);
  });

  it('give way to calls that an advisor has changed, removed or added', () => {
    const message = messageFrom([REASONING, CALL]);
    const [call] = callsOf(message);
    if (!call) throw new Error('expected a call');
    const added = { id: 'call_2', name: 'later', arguments: '' };

    const changed = toInput([{ ...message, toolCalls: [{ ...call, arguments: '{}' }, added] }]);
    const removed = toInput([{ ...message, content: 'No.', toolCalls: [] }]);

    expect(changed.slice(1)).to.deep.equal([
      { ...CALL, arguments: '{}' },
      { type: 'function_call', call_id: 'call_2', name: 'later', arguments: '{}' },
    ]);
    expect(removed).to.deep.equal([{ type: 'message', role: 'assistant', content: 'No.' }]);
  });

  it('come back from a refusal', () => {
    const refusal = messageOf('', { content: [{ type: 'refusal', refusal: 'No.' }] });
    const message = messageFrom([refusal]);

    expect(toInput([message])).to.deep.equal([refusal]);
    expect(toInput([{ ...message, refusal: 'Never.' }])).to.deep.equal([
      { type: 'message', role: 'assistant', content: 'Never.' },
    ]);
  });

  it('belong to this API alone', () => {
    const message: AssistantMessage = {
      role: 'assistant',
      content: 'Hi',
      reasoning: 'hm',
      metadata: { openai: { reasoning_content: 'hm' }, responses: { items: 'none' } },
    };

    expect(toInput([message])).to.deep.equal([
      { type: 'message', role: 'assistant', content: 'Hi' },
    ]);
  });

  it('have call ids of 64 characters at most, alike in call and result', () => {
    const id = `toolu_${'x'.repeat(80)}`;

    const [call, result] = toInput([
      { role: 'assistant', content: null, toolCalls: [{ id, name: 'now', arguments: '{}' }] },
      { role: 'tool', toolCallId: id, toolName: 'now', content: 'noon' },
    ]);

    expect(call?.['call_id']).to.equal(result?.['call_id']).and.have.length(64);
  });
});
