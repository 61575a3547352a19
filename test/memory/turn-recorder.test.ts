import { expect } from 'chai';
import { ChatResponse, type ChatEvent, type ToolCall } from '../../src/index.js';
import { TurnRecorder } from '../../src/memory/turn-recorder.js';

describe('TurnRecorder', () => {
  it('[F22] keeps the results of two calls with the same id apart, in any order', () => {
    const toolCalls: readonly ToolCall[] = [1, 2].map((at) => ({
      id: 'k',
      name: `tool_${at}`,
      arguments: '{}',
    }));
    const response = new ChatResponse({
      generations: [{ message: { role: 'assistant', text: null, toolCalls } }],
    });
    const result = (call: ToolCall): ChatEvent => ({
      type: 'tool-result',
      call,
      result: { content: `of ${call.name}` },
    });
    const recorder = new TurnRecorder();
    recorder.record({ type: 'iteration', index: 0, response });
    for (const call of toolCalls.toReversed()) recorder.record(result(call));

    expect(recorder.toolMessages().slice(1)).to.deep.equal([
      { role: 'tool', toolCallId: 'k', toolName: 'tool_1', content: 'of tool_1' },
      { role: 'tool', toolCallId: 'k', toolName: 'tool_2', content: 'of tool_2' },
    ]);
  });

  it('matches the result of a copied call by its id', () => {
    const call: ToolCall = { id: 'k', name: 'look', arguments: '{}' };
    const response = new ChatResponse({
      generations: [{ message: { role: 'assistant', text: null, toolCalls: [call] } }],
    });
    const recorder = new TurnRecorder();
    recorder.record({ type: 'iteration', index: 0, response });
    recorder.record({ type: 'tool-result', call: { ...call }, result: { content: 'x' } });

    expect(recorder.toolMessages()).to.have.length(2);
  });
});
