import {
  AdvisorOrder,
  ChatClient,
  defineAdvisor,
  InMemoryKeyValueStore,
  type Advisor,
  type ChatResponse,
  type Decision,
  type KeyValueStore,
  type PendingRequest,
  type Tool,
  type ToolInvocation,
} from '../../src/index.js';
import type { ChatModel } from '../../src/core/chat/chat-model.js';
import { RunRecord } from '../../src/core/chat/run-record.js';
import { toolStepOf } from '../../src/engines/recorder/tool-step.js';
import type { PauseOptions } from '../../advisors/approval/pause-options.js';
import { StateSeal } from '../../advisors/approval/state-seal.js';
import { PausedTurns, recordPausableCall } from '../../advisors/approval/paused-turns.js';
import type { JsonValue } from '../../src/core/internal/json.js';
import { CallContext } from '../../src/core/tool-execution/tool-context.js';
import { toolFingerprint } from '../../src/core/tool/pin-tools.js';
import { settled } from './promises.js';

export const SECRET = 'a secret of the tests, 32 characters';

export const pauseOptions = (options: Partial<PauseOptions> = {}): PauseOptions => ({
  secrets: SECRET,
  store: new InMemoryKeyValueStore(),
  ...options,
});

/** The text in a state. */
export const openState = (state: string): Promise<string> => new StateSeal([SECRET]).open(state);

/**
 * Resolves when no process runs the turn of a state: until then, a resume is refused. The run of a
 * cancelled turn has an error before that, and does not settle while a model or tool hangs.
 */
export async function untilAtRest(store: KeyValueStore, state: string): Promise<void> {
  const { id } = JSON.parse(await openState(state)) as { readonly id: string };
  while ((await store.get(`paused-turn ${id} lease`)) !== undefined) await settled();
}

/** The state of an earlier package, which signed it and did not encrypt it. */
export async function signedState(text: string, secret = SECRET): Promise<string> {
  const bytes = (each: string) => new TextEncoder().encode(each);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['sign']);
  const signed = `paused-turn.1.${Buffer.from(text).toString('base64url')}`;
  const signature = await crypto.subtle.sign('HMAC', key, bytes(signed));
  return `${signed}.${Buffer.from(signature).toString('base64url')}`;
}

/** The parts of an advisor that pauses turns; see `PausedTurns.partOf`. */
export const pausingParts = (options: PauseOptions | undefined): readonly Advisor[] => [
  PausedTurns.partOf(options, 'test-turn', () => undefined),
  { name: 'test-tools', order: AdvisorOrder.DURABLE, adviseToolCall: recordPausableCall },
];

/** Asks for each call of a `write` tool, as `ApprovalAdvisor` does. */
export const asking: Advisor = defineAdvisor({
  name: 'asking',
  order: AdvisorOrder.TOOL_CALLING + 1,
  aroundTool: async (invocation, next) => {
    const { call, tool } = invocation;
    const run = RunRecord.of(invocation.context.signal) as RunRecord;
    if (tool.metadata.effect !== 'write' || !run.recorder.isRecording) return next(invocation);
    const place = toolStepOf(call.name, invocation.context);
    const cancellation = CallContext.cancellationOf(invocation.context);
    const wait = { place, timeout: Infinity, cancellation };
    const decision = (await run.recorder.waitFor(requestOf(invocation), wait)) as Decision;
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
    .defaultAdvisors(...pausingParts(options), asking, ...advisors)
    .build();
}

/** The same decision on all requests of a paused turn. */
export function decideAll(
  { paused }: ChatResponse,
  decision: Decision = { type: 'allow', by: 'anna' },
): Record<string, Decision> {
  return Object.fromEntries((paused?.requests ?? []).map(({ id }) => [id, decision]));
}
