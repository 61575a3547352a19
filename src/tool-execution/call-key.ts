import type { ToolCall } from '../chat/message.js';
import { RunRecord } from '../chat/run-record.js';
import { RunSlot } from '../chat/run-slot.js';
import type { ToolContext } from '../tool/tool.js';
import { AGENT_PATH } from './agent-path.js';
import { CallContext } from './tool-context.js';

/** The calls of a run by the text that most often identifies one. */
const SLOT = new RunSlot<Map<string, ToolCall[]>>();

/**
 * Identifies a call within its turn, also when the turn runs again. Models give the same id to calls
 * of several answers, or of one: their number is a part of the key, so that a decision counts for one.
 */
export function callKeyOf(context: ToolContext): string {
  const { call } = CallContext.originOf(context);
  const key = `${CallContext.iterationOf(context)}.${call.id}`;
  const run = RunRecord.owning(CallContext.cancellationOf(context));
  if (!run) return key;
  const all = SLOT.get(run) ?? SLOT.set(run, new Map<string, ToolCall[]>());
  const calls = all.get(key) ?? [];
  all.set(key, calls);
  const at = calls.indexOf(call);
  const number = at < 0 ? calls.push(call) : at + 1;
  return number === 1 ? key : `${key}~${number}`;
}

/** Identifies a call within the outermost turn. */
export function callPathOf(context: ToolContext): string {
  const agents = context.advisorContext.get(AGENT_PATH).map(({ key }) => key);
  return [...agents, callKeyOf(context)].join('/');
}
