import assert from 'node:assert/strict';
import type { ToolResult } from '../../core/chat/chat-event.js';
import { AdvisorContext } from '../../core/chat/context.js';
import type { ToolCallHandler, ToolContext, ToolInvocation } from '../../core/tool/tool.js';
import { gate } from './recording.js';
import { ANSWERED_USER, CANARY, echoTool } from './scenarios.js';
import { type AdvisorContract, type Laws } from './trial.js';

/** Laws of `adviseToolCall`. */
export const TOOL_CALL_LAWS: Laws = {
  'passes tool calls and their results [tool calls]': async (contract) => {
    const passed: ToolInvocation[] = [];
    const result = await adviserOf(contract)('call_1', (invocation) => {
      passed.push(invocation);
      return runTool(invocation);
    });
    const content: unknown = (result as Partial<ToolResult> | undefined)?.content;
    const hasContent = typeof content === 'string' || Array.isArray(content);
    assert.ok(hasContent, 'adviseToolCall must resolve with a result that has a content');
    const isCalled = passed.length > 0 || contract.answersItself;
    assert.ok(isCalled, 'the tool was not called; set answersItself if that is intended');
    for (const { call, context } of passed) {
      assert.equal(call.id, 'call_1', 'the tool received another call');
      assert.equal(context.values, CANARY, 'the tool context is missing');
    }
    if (passed.length > 0 && !contract.changesAnswer)
      assert.deepEqual(result, await runTool(invocationOf('call_1')), 'the result changed');
  },
  'passes errors of tools unchanged [tool calls]': async (contract) => {
    if (contract.handlesErrors) return;
    const error = Object.freeze(new Error('the tool failed'));
    let calls = 0;
    const failing: ToolCallHandler = () => {
      calls++;
      return Promise.reject(error);
    };
    const failure: unknown = await adviserOf(contract)('call_1', failing).catch(
      (thrown: unknown) => thrown,
    );
    if (calls > 0) assert.ok(failure === error, `the error became ${String(failure)}`);
  },
  'shares nothing between concurrent tool calls [tool calls]': async (contract) => {
    const advise = adviserOf(contract);
    const { opened, open } = gate();
    const first = advise('call_1', (invocation) => opened.then(() => runTool(invocation)));
    const second = await advise('call_2', runTool);
    open();
    for (const [id, result] of Object.entries({ call_1: await first, call_2: second }))
      assert.deepEqual(
        result,
        await adviserOf(contract)(id, runTool),
        `beside another call, ${id} has another result than alone`,
      );
  },
};

/** The `adviseToolCall` of a new advisor, for a call with an id. */
function adviserOf(
  contract: AdvisorContract,
): (id: string, next: ToolCallHandler) => Promise<ToolResult> {
  const advisor = contract.create();
  return (id, next) => {
    const invocation = invocationOf(id);
    return advisor.adviseToolCall?.(invocation, next) ?? next(invocation);
  };
}

function invocationOf(id: string): ToolInvocation {
  const call = { id, name: 'echo', arguments: JSON.stringify({ text: id }), metadata: CANARY };
  const context: ToolContext = {
    call,
    signal: new AbortController().signal,
    values: CANARY,
    get: ({ defaultValue }) => defaultValue,
    idempotencyKey: id,
    advisorContext: AdvisorContext.empty,
    progress: () => undefined,
    emit: () => undefined,
    ask: () => Promise.reject(new Error('no person to ask')),
  };
  return { call, tool: echoTool(), arguments: { text: id }, context };
}

function runTool({ call: { id } }: ToolInvocation): Promise<ToolResult> {
  return Promise.resolve({
    content: id,
    value: { id },
    unlocks: [id],
    locks: [`not ${id}`],
    context: AdvisorContext.empty.with(ANSWERED_USER, id),
    ...CANARY,
  });
}
