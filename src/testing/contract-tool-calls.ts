import assert from 'node:assert/strict';
import type { ToolResult } from '../chat/chat-event.js';
import { AdvisorContext } from '../chat/context.js';
import type { Advisor } from '../advisor/advisor.js';
import type { ToolCallHandler, ToolContext, ToolInvocation } from '../tool/tool.js';
import type { Law } from './contract-laws.js';
import { ANSWERED_TO, CANARY, sampleRequest } from './contract-scene.js';
import type { Trial } from './contract-trial.js';

/** What holds for `adviseToolCall`. */
export const toolCallLaws: readonly Law[] = [
  { title: 'passes tool calls and their results on [tool calls]', check: passesResults },
  { title: 'passes errors of tools on as they are [tool calls]', check: passesErrors },
  { title: 'shares nothing between two tool calls at the same time [tool calls]', check: sharesNothing },
];

function invocation(id: string): ToolInvocation {
  const call = { id, name: 'echo', arguments: JSON.stringify({ text: id }), metadata: CANARY };
  const [tool] = sampleRequest('call').tools;
  assert.ok(tool);
  const context: ToolContext = {
    call,
    signal: new AbortController().signal,
    values: CANARY,
    get: ({ defaultValue }) => defaultValue,
    idempotencyKey: id,
    advisorContext: AdvisorContext.empty,
    progress: () => undefined,
  };
  return { call, tool, arguments: { text: id }, context };
}

function resultOf({ call }: ToolInvocation): ToolResult {
  return {
    content: call.id,
    value: { id: call.id },
    unlocks: [call.id],
    locks: [`not ${call.id}`],
    context: AdvisorContext.empty.with(ANSWERED_TO, call.id),
    ...CANARY,
  };
}

async function passesResults(trial: Trial): Promise<void> {
  const asked: ToolInvocation[] = [];
  const result = await advise(trial.contract.create(), invocation('call_1'), (passed) => {
    asked.push(passed);
    return Promise.resolve(resultOf(passed));
  });
  const { content } = result ?? {};
  assert.ok(typeof content === 'string' || Array.isArray(content), 'adviseToolCall must resolve with a result that has a content');
  if (!trial.contract.answersItself) assert.ok(asked.length > 0, 'it never went on to the tool; set answersItself if it need not');
  for (const { call, context } of asked) {
    assert.equal(call.id, 'call_1', 'the tool got another call');
    assert.equal(context.values, CANARY, 'the tool context got lost');
  }
  if (asked.length > 0 && !trial.contract.changesAnswer)
    assert.deepEqual(result, resultOf(invocation('call_1')), 'the result became another one');
}

async function passesErrors(trial: Trial): Promise<void> {
  if (trial.contract.handlesErrors) return;
  const error = Object.freeze(new Error('the tool failed'));
  let asked = 0;
  const failure = await advise(trial.contract.create(), invocation('call_1'), () => {
    asked++;
    return Promise.reject(error);
  }).then(
    () => 'a result',
    (thrown: unknown) => thrown,
  );
  if (asked > 0) assert.ok(failure === error, `the error of the tool became ${String(failure)}`);
}

async function sharesNothing(trial: Trial): Promise<void> {
  const advisor = trial.contract.create();
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const first = advise(advisor, invocation('call_1'), (passed) => gate.then(() => resultOf(passed)));
  const second = await advise(advisor, invocation('call_2'), (passed) => Promise.resolve(resultOf(passed)));
  open();
  const alone = (id: string): Promise<ToolResult> =>
    advise(trial.contract.create(), invocation(id), (passed) => Promise.resolve(resultOf(passed)));
  assert.deepEqual(await first, await alone('call_1'), 'beside another call, the first call got another result than alone');
  assert.deepEqual(second, await alone('call_2'), 'beside another call, the second call got another result than alone');
}

async function advise(advisor: Advisor, call: ToolInvocation, next: ToolCallHandler): Promise<ToolResult> {
  return (advisor as Required<Pick<Advisor, 'adviseToolCall'>>).adviseToolCall(call, next);
}
