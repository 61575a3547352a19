import { expect } from 'chai';
import { ChatResponse, type ChatEvent, type ToolCall } from '../../src/index.js';
import { TurnRecorder } from '../../src/memory/turn-recorder.js';

describe('TurnRecorder', () => {
  it('[F22] keeps the results of two calls with one id apart, whichever ends first', () => {
    const toolCalls: readonly ToolCall[] = [1, 2].map((at) => ({ id: 'k', name: `tool_${at}`, arguments: '{}' }));
    const response = new ChatResponse({ generations: [{ message: { role: 'assistant', text: null, toolCalls } }] });
    const result = (call: ToolCall): ChatEvent => ({ type: 'tool-result', call, result: { content: `of ${call.name}` } });
    const recorder = new TurnRecorder();
    recorder.hear({ type: 'iteration', index: 0, response });
    for (const call of toolCalls.toReversed()) recorder.hear(result(call));

    expect(recorder.toolMessages().slice(1)).to.deep.equal([
      { role: 'tool', toolCallId: 'k', toolName: 'tool_1', content: 'of tool_1' },
      { role: 'tool', toolCallId: 'k', toolName: 'tool_2', content: 'of tool_2' },
    ]);
  });

  it('takes a result of a call that is a copy by its id', () => {
    const call: ToolCall = { id: 'k', name: 'look', arguments: '{}' };
    const response = new ChatResponse({ generations: [{ message: { role: 'assistant', text: null, toolCalls: [call] } }] });
    const recorder = new TurnRecorder();
    recorder.hear({ type: 'iteration', index: 0, response });
    recorder.hear({ type: 'tool-result', call: { ...call }, result: { content: 'x' } });

    expect(recorder.toolMessages()).to.have.length(2);
  });
});
