import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  InMemoryKeyValueStore,
  type Advisor,
  type ChatResponse,
  type Decision,
  type PendingRequest,
  type Tool,
  type ToolInvocation,
} from '../../src/index.js';
import type { ChatModel } from '../../src/chat/chat-model.js';
import { RunRecord } from '../../src/chat/run-record.js';
import { toolStepOf } from '../../src/durable/tool-step.js';
import { DurableRun } from '../../src/durable/durable-run.js';
import type { PauseOptions } from '../../src/approval/pause-options.js';
import { PausedRun } from '../../src/approval/paused-run.js';
import { PausedTurns } from '../../src/approval/paused-turns.js';
import type { JsonValue } from '../../src/internal/json.js';
import { toolFingerprint } from '../../src/tool/pin-tools.js';

export const SECRET = 'a secret of the tests, 32 characters';

export const pauseOptions = (options: Partial<PauseOptions> = {}): PauseOptions => ({
  secrets: SECRET,
  store: new InMemoryKeyValueStore(),
  ...options,
});

/** Asks for each call of a `write` tool, as `ApprovalAdvisor` does. */
export const asking: Advisor = defineAdvisor({
  name: 'asking',
  order: AdvisorOrder.TOOL_CALLING + 1,
  aroundTool: async (invocation, next) => {
    const { call, tool } = invocation;
    const run = RunRecord.of(invocation.context.signal) as RunRecord;
    const paused = PausedRun.of(run);
    if (tool.metadata.effect !== 'write' || !paused) return next(invocation);
    const decision = paused.request(
      requestOf(invocation),
      DurableRun.of(run),
      toolStepOf(call.name, invocation.context),
    );
    if (!decision) throw paused.error;
    if (decision.type === 'deny') return { content: `Denied: ${decision.reason}`, isError: true };
    if (decision.type !== 'edit') return next(invocation);
    const edited = { ...call, arguments: JSON.stringify(decision.arguments) };
    return next({ ...invocation, call: edited, arguments: decision.arguments });
  },
});

function requestOf({ call, tool, arguments: args, context }: ToolInvocation): PendingRequest {
  return {
    type: 'approval',
    id: context.idempotencyKey,
    toolName: call.name,
    callId: call.id,
    arguments: args as JsonValue,
    argumentsText: call.arguments,
    scopes: ['once', 'conversation', 'always'],
    prompt: `Run ${call.name}?`,
    effect: 'write',
    fingerprint: toolFingerprint(tool),
  };
}

/** A client whose turns pause at `write` tools. */
export function pausingClient(
  model: ChatModel,
  tools: readonly Tool[],
  options: PauseOptions,
  ...advisors: readonly Advisor[]
): ChatClient {
  return ChatClient.builder(model)
    .defaultSystem('You pay.')
    .defaultTools(...tools)
    .defaultAdvisors(...PausedTurns.partsOf(options, 'test'), asking, ...advisors)
    .build();
}

/** The same decision on all requests of a paused turn. */
export function decideAll(
  { paused }: ChatResponse,
  decision: Decision = { type: 'allow', by: 'anna' },
): Record<string, Decision> {
  return Object.fromEntries((paused?.requests ?? []).map(({ id }) => [id, decision]));
}
