import { expect } from 'chai';
import { LoopRecord } from '../../../src/core/chat/loop-record.js';
import { ChatResponse, Prompt, type ChatEvent, type ToolCall } from '../../../src/index.js';
import { toolMessages } from '../../../advisors/message-chat-memory/turn-messages.js';

function recordOf(...toolCalls: readonly ToolCall[]): LoopRecord {
  const record = new LoopRecord([], new Prompt([]));
  const message = { role: 'assistant', content: null, toolCalls } as const;
  record.addStep(0, new ChatResponse({ generations: [{ message }] }));
  return record;
}

function finish(record: LoopRecord, call: ToolCall): void {
  const result: ChatEvent = {
    type: 'tool-result',
    toolName: call.name,
    call,
    result: { content: `of ${call.name}` },
  };
  record.recordToolEvent({ type: 'tool-call', toolName: call.name, call });
  record.recordToolEvent(result);
}

describe('toolMessages', () => {
  it('[F22] keeps the results of two calls with the same id apart, in any order', () => {
    const calls = [1, 2].map((at) => ({ id: 'k', name: `tool_${at}`, arguments: '{}' }));
    const record = recordOf(...calls);
    const ofResponse = record.steps.flatMap(({ toolCalls }) => toolCalls);
    for (const { call } of ofResponse.toReversed()) finish(record, call);

    expect(toolMessages(record.steps).slice(1)).to.deep.equal([
      { role: 'tool', toolCallId: 'k', toolName: 'tool_1', content: 'of tool_1' },
      { role: 'tool', toolCallId: 'k', toolName: 'tool_2', content: 'of tool_2' },
    ]);
  });

  it('matches the result of a copied call by its id', () => {
    const call: ToolCall = { id: 'k', name: 'look', arguments: '{}' };
    const record = recordOf(call);
    finish(record, { ...call });

    expect(toolMessages(record.steps)).to.have.length(2);
  });

  it('leaves out calls that were not started', () => {
    const record = recordOf({ id: 'k', name: 'look', arguments: '{}' });

    expect(toolMessages(record.steps)).to.deep.equal([]);
  });
});
