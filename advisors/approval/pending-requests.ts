import type {
  ApprovalRequest,
  PendingRequest,
  ToolRequest,
} from '../../src/core/chat/paused-turn.js';
import { jsonData } from '../../src/core/internal/json-data.js';
import { canonicalJson, type JsonValue } from '../../src/core/internal/json.js';
import { memoize } from '../../src/core/internal/memoize.js';
import { sha256Hex } from '../../src/core/internal/text.js';
import { AGENT_PATH } from '../../src/core/tool-execution/call-identity.js';
import { parseArguments } from '../../src/core/tool-execution/check-call.js';
import { callPathOf } from '../../src/core/tool-execution/call-identity.js';
import type { ToolQuestion } from '../../src/core/tool-execution/tool-questions.js';
import { invisibleIn } from '../../src/core/tool/hidden-text.js';
import { toolFingerprint } from '../../src/core/tool/pin-tools.js';
import type { Tool, ToolContext, ToolInvocation } from '../../src/core/tool/tool.js';
import type { AskVerdict } from './tool-policy.js';

export const fingerprintOf = memoize((tool: Tool) => toolFingerprint(tool));

/** Numbers beyond lose digits when they are parsed; the tool may read them from the text. */
const LONG_NUMBER = /\d{16}/;
const ID_LENGTH = 24;

/** The arguments as a person sees them. */
export function shownArguments({ arguments: args, call }: ToolInvocation): JsonValue {
  // of values that JSON has not, such as a date that a schema has made, what the model wrote
  return jsonData(args) ?? parseArguments(call.arguments);
}

/** A text that is equal for calls of the same tool with the same arguments. */
export function bindingOf(invocation: ToolInvocation): string {
  const text = invocation.call.arguments;
  const exact = LONG_NUMBER.test(text) ? [text] : [];
  return canonicalJson([fingerprintOf(invocation.tool), shownArguments(invocation), ...exact]);
}

/**
 * Stable id: same tool name and argument text, across deployments, whose tool may have changed. A
 * decision counts only for the advisor that asked for it.
 */
function requestIdOf({ call, context }: ToolInvocation, owner: string | undefined): string {
  const of = [call.name, call.arguments, ...(owner === undefined ? [] : [owner])];
  const bound = sha256Hex(JSON.stringify(of)).slice(0, ID_LENGTH);
  return `${callPathOf(context)}.${bound}`;
}

/**
 * The question whether a call may run.
 * @param owner name of the advisor that asks, if the chain may have several
 */
export function approvalRequest(
  invocation: ToolInvocation,
  verdict: AskVerdict,
  scopes: ApprovalRequest['scopes'],
  owner?: string,
): ApprovalRequest {
  const { call, tool, context } = invocation;
  const { prompt = `Run "${call.name}"?`, risk, details } = verdict;
  const args = shownArguments(invocation);
  const hidden = hiddenIn(prompt, args, call.arguments, details);
  return {
    type: 'approval',
    id: requestIdOf(invocation, owner),
    toolName: call.name,
    callId: call.id,
    arguments: args,
    argumentsText: call.arguments,
    prompt,
    ...(risk !== undefined && { risk }),
    ...(details !== undefined && { details }),
    ...hidden,
    effect: tool.metadata.effect ?? 'write',
    scopes,
    fingerprint: fingerprintOf(tool),
    ...agentsOf(context),
  };
}

/** The request of a tool, of the call with this id. */
export function questionRequest(
  { context, request, key }: ToolQuestion,
  callId: string,
): ToolRequest {
  const shown = request.type === 'question' ? request.schema : request.arguments;
  const hidden = hiddenIn(request.prompt, shown as JsonValue);
  return { ...request, id: `${callId}?${key}`, ...hidden, ...agentsOf(context) };
}

/** The same request after a decision that was not valid. */
export function askedAgain<R extends PendingRequest>(
  first: R,
  attempt: number,
  problem: string,
): R {
  return { ...first, id: `${first.id}#${attempt}`, problem };
}

function agentsOf({ advisorContext }: ToolContext): { readonly agents?: readonly string[] } {
  const path = advisorContext.get(AGENT_PATH);
  return path.length > 0 ? { agents: path.map(({ toolName }) => toolName) } : {};
}

function hiddenIn(...values: readonly (JsonValue | undefined)[]): { readonly hiddenText?: string } {
  const found = values
    .map((value) => invisibleIn(typeof value === 'string' ? value : JSON.stringify(value ?? null)))
    .find((each) => each !== undefined);
  return found === undefined ? {} : { hiddenText: found };
}
