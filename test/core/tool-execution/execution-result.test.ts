import { expect } from 'chai';
import { AdvisorContext } from '../../../src/core/chat/context.js';
import type { ToolResult } from '../../../src/core/chat/chat-event.js';
import { Prompt } from '../../../src/core/chat/prompt.js';
import {
  directAnswer,
  ToolExecutionResult,
  unlockedAfter,
} from '../../../src/core/tool-execution/execution-result.js';

interface Changes {
  readonly results?: readonly ToolResult[];
  readonly unlocks?: readonly string[];
  readonly locks?: readonly string[];
}

function resultWith({ results = [], unlocks = [], locks = [] }: Changes): ToolExecutionResult {
  const executed = results.map((result, at) => ({
    call: { id: `call_${at}`, name: `tool_${at}`, arguments: '{}' },
    result,
    accepted: true,
  }));
  const context = AdvisorContext.empty;
  return new ToolExecutionResult(new Prompt('?'), [], executed, true, unlocks, locks, context);
}

describe('the unlocked tools after a batch', () => {
  const cases: readonly (readonly [title: string, changes: Changes, names: readonly string[]])[] = [
    ['end with new ones, in order of discovery', { unlocks: ['d', 'c'] }, ['a', 'b', 'd', 'c']],
    ['have a name once', { unlocks: ['c', 'a', 'c'] }, ['a', 'b', 'c']],
    ['lack the locked ones', { locks: ['a', 'x'] }, ['b']],
    ['have those that are both locked and unlocked', { unlocks: ['a'], locks: ['a'] }, ['a', 'b']],
    ['lack the locked ones beside new ones', { unlocks: ['c'], locks: ['b'] }, ['a', 'c']],
  ];
  for (const [title, changes, names] of cases) {
    it(title, () => {
      expect(unlockedAfter(['a', 'b'], resultWith(changes))).to.deep.equal(names);
    });
  }

  it('are the same list if nothing changes, so that the request stays the same', () => {
    const unlocked = ['a', 'b'];

    expect(unlockedAfter(unlocked, resultWith({}))).to.equal(unlocked);
  });
});

describe('the answer of return-direct tools', () => {
  it('[F8] has a generation with the call for each result, and the parts of one that is no text', () => {
    const parts = [{ type: 'text', text: 'b' }] as const;

    const answer = directAnswer(resultWith({ results: [{ content: 'a' }, { content: parts }] }));

    expect(answer).to.deep.equal([
      {
        message: { role: 'assistant', content: 'a' },
        finishReason: 'returnDirect',
        metadata: { toolCallId: 'call_0', toolName: 'tool_0' },
      },
      {
        message: { role: 'assistant', content: 'b' },
        finishReason: 'returnDirect',
        metadata: { toolCallId: 'call_1', toolName: 'tool_1', content: parts },
      },
    ]);
  });
});
