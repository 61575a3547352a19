import { callsOf } from '../../../src/core/chat/message.js';
import { expect } from 'chai';
import { decodeMessage, encodeMessage } from '../../../src/index.js';
import type { AssistantMessage } from '../../../src/index.js';
import type { JsonObject } from '../../../src/core/internal/options.js';
import { toAssistantBlocks } from '../../../src/models/anthropic/assistant-content.js';
import { eventsOf, foldEvents, message } from './message-events.js';

const thinking = { type: 'thinking', thinking: 'Hmm.', signature: 'c2ln' };
const redacted = { type: 'redacted_thinking', data: 'eHh4' };
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } };
const text = (value: string): JsonObject => ({ type: 'text', text: value });
const cited = { ...text('Grass is green.'), citations: [{ cited_text: 'x', document_index: 0 }] };
const server = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { q: 1 } };
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ a: 1 }] };
const mcp = { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'g', server_name: 's', input: {} };

/** The message of an answer with these blocks, as a store returns it. */
function stored(...content: readonly JsonObject[]): AssistantMessage {
  const { response } = foldEvents(eventsOf(message(content)));
  return decodeMessage(encodeMessage(response.message)) as AssistantMessage;
}

describe('the blocks of an answer', () => {
  const answers: Readonly<Record<string, readonly JsonObject[]>> = {
    'text and calls': [text('a'), use, { ...use, id: 'toolu_2' }],
    'thinking, text and a call': [thinking, text('a'), use],
    'thinking without text': [{ ...thinking, thinking: '' }, use],
    'redacted thinking': [redacted, thinking, text('a')],
    'thinking between calls': [thinking, use, { ...thinking, signature: 'Mg==' }, { ...use, id: 'b' }],
    'text after a call': [use, text('a')],
    'several texts with citations': [text('So:'), cited, text('.')],
    'tools of the provider': [text('I look.'), server, found, cited, mcp],
    'a caller': [{ ...use, caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' } }],
  }; // prettier-ignore
  for (const [title, content] of Object.entries(answers))
    it(`go back in their order: ${title}`, () => {
      expect(toAssistantBlocks(stored(...content))).to.deep.equal(content);
    });

  it('are kept only if the message alone would lose something', () => {
    expect(stored(text('a'), use)).to.not.have.property('metadata');
    expect(stored({ ...use, caller: { type: 'direct' } }).toolCalls?.[0]).to.not.have.property(
      'metadata',
    );
  });

  it('go back without blank texts, which the API refuses', () => {
    expect(toAssistantBlocks(stored(thinking, text('\n\n'), use))).to.deep.equal([thinking, use]);
  });

  it('of text give way to a changed text, at the place of the first', () => {
    const answer = stored(thinking, text('So:'), server, found, cited, use);

    expect(toAssistantBlocks({ ...answer, content: 'changed' })).to.deep.equal([
      thinking,
      text('changed'),
      server,
      found,
      use,
    ]);
    expect(toAssistantBlocks({ ...answer, content: null })).to.deep.equal([
      thinking,
      server,
      found,
      use,
    ]);
  });

  it('have a text that was added before the calls', () => {
    const answer = stored(thinking, use);

    expect(toAssistantBlocks({ ...answer, content: 'added' })).to.deep.equal([
      thinking,
      text('added'),
      use,
    ]);
  });

  it('of calls follow the calls of the message', () => {
    const answer = stored(thinking, use, { ...use, id: 'toolu_2' });
    const [first] = callsOf(answer);
    if (!first) throw new Error('the answer has no call');
    const changed = { ...first, arguments: '{"a":2}' };
    const added = { ...first, id: 'toolu_3' };

    expect(toAssistantBlocks({ ...answer, toolCalls: [changed, added] })).to.deep.equal([
      thinking,
      { ...use, input: { a: 2 } },
      { ...use, id: 'toolu_3' },
    ]);
    expect(toAssistantBlocks({ ...answer, toolCalls: [] })).to.deep.equal([thinking]);
  });

  it('of thinking are left out if the reasoning was changed or removed', () => {
    const { reasoning: _reasoning, ...answer } = stored(thinking, redacted, text('a'));

    expect(toAssistantBlocks(answer)).to.deep.equal([text('a')]);
    expect(toAssistantBlocks({ ...answer, reasoning: 'other' })).to.deep.equal([text('a')]);
  });

  it('follow ids that were made unique', () => {
    const answer = stored(thinking, { ...use, id: '' }, { ...use, id: '' });

    expect(toAssistantBlocks(answer)).to.deep.equal([
      thinking,
      ...callsOf(answer).map(({ id }) => ({ ...use, id })),
    ]);
  });

  it('never have the data of other providers', () => {
    const foreign: AssistantMessage = {
      role: 'assistant',
      content: 'a',
      reasoning: 'hm',
      toolCalls: [{ id: 'x', name: 'f', arguments: '{"a":1}', metadata: { google: { thoughtSignature: 's' } } }],
      metadata: { openai: { reasoning_content: 'hm' } },
    }; // prettier-ignore

    expect(toAssistantBlocks(foreign)).to.deep.equal([text('a'), { ...use, id: 'x' }]);
  });

  it('that are not what they should be are ignored', () => {
    const answer = { role: 'assistant', content: 'a' } as const;

    for (const anthropic of [null, 'x', { content: 'x' }, { content: [null, 1] }, { content: {} }])
      expect(toAssistantBlocks({ ...answer, metadata: { anthropic } })).to.deep.equal([text('a')]);
  });
});
