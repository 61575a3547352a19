import { expect } from 'chai';
import { InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { ChatResponse, type Generation } from '../../../src/core/chat/chat-response.js';

const generation = (text: string, finishReason?: string): Generation => ({
  message: { role: 'assistant', content: text },
  ...(finishReason !== undefined && { finishReason }),
});
const asking: Generation = {
  message: {
    role: 'assistant',
    content: null,
    toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }],
  },
};

describe('ChatResponse', () => {
  for (const generations of [null, undefined, 'Rome.', {}])
    it(`[D93] refuses generations that are no array: ${JSON.stringify(generations)}`, () => {
      const make = (): unknown => new ChatResponse({ generations: generations as never });

      expect(make).to.throw(InvalidArgumentError, 'ChatResponse: generations must be an array');
      expect(() => ChatResponse.ofText('x').with({ generations: null as never })).to.throw(
        InvalidArgumentError,
      );
    });

  it('has the properties of its first generation', () => {
    const response = new ChatResponse({
      generations: [generation('a', 'stop'), generation('b', 'length')],
    });

    expect([response.text, response.finishReason]).to.deep.equal(['a', 'stop']);
    expect(response.hasToolCalls()).to.equal(false);
    expect(response.result).to.equal(response.generations[0]);
    expect(response.message).to.equal(response.generations[0]?.message);
  });

  it('[CTX-03] [AGG-03] has an empty message without generations', () => {
    const response = new ChatResponse({ generations: [] });

    expect([response.text, response.finishReason, response.result]).to.deep.equal([
      null,
      undefined,
      undefined,
    ]);
    expect(response.message).to.deep.equal({ role: 'assistant', content: null });
    expect(response.hasToolCalls()).to.equal(false);
    expect(response.hasFinishReason('stop')).to.equal(false);
  });

  it('[CTX-06] [AGG-03] finds finish reasons case-insensitively', () => {
    const response = new ChatResponse({ generations: [generation('a', 'STOP')] });

    expect(response.hasFinishReason('tool_calls', 'stop')).to.equal(true);
    expect(response.hasFinishReason('length')).to.equal(false);
    expect(response.hasFinishReason()).to.equal(false);
  });

  it('[D57] is its first generation, whatever the alternatives are', () => {
    const other = { ...asking, finishReason: 'tool_calls' };
    const final = new ChatResponse({ generations: [generation('a', 'stop'), other] });
    const asks = new ChatResponse({ generations: [other, generation('a', 'stop')] });

    expect([final.hasToolCalls(), asks.hasToolCalls()]).to.deep.equal([false, true]);
    expect(final.hasFinishReason('tool_calls')).to.equal(false);
    expect(asks.hasFinishReason('stop')).to.equal(false);
  });

  it('is unchanged by a copy with other fields', () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
    const response = new ChatResponse({
      generations: [generation('a')],
      id: 'x',
      usage,
      model: 'm',
      metadata: { k: 1 },
    });

    const changed = response.with({ id: 'y', usage: undefined });

    expect({ ...changed }).to.deep.equal({ ...response, id: 'y', usage: undefined });
    expect(response.id).to.equal('x');
  });

  it('can be created from a text', () => {
    const response = ChatResponse.ofText('no');

    expect([response.text, response.finishReason, response.usage]).to.deep.equal([
      'no',
      'stop',
      undefined,
    ]);
    expect(ChatResponse.ofText('no', 'blocked').finishReason).to.equal('blocked');
  });
});
