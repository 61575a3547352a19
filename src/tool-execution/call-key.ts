import type { ToolCall } from '../chat/message.js';
import { RunRecord } from '../chat/run-record.js';
import { RunSlot } from '../chat/run-slot.js';
import type { ToolContext } from '../tool/tool.js';
import { AGENT_PATH } from './agent-path.js';
import { CallContext } from './tool-context.js';

/** An id with these could have the name of another call, or of a step of it. */
const SPECIAL = /[^\w.:-]/g;

/** The calls of a run by their iteration and id. */
const SLOT = new RunSlot<Map<string, ToolCall[]>>();

/**
 * The id of a call, with its number if its batch has several with this id: models repeat them.
 * Calls of other iterations may have it, too.
 */
export function callNameOf(context: ToolContext): string {
  const { call } = CallContext.originOf(context);
  const run = RunRecord.owning(CallContext.cancellationOf(context));
  const id = call.id.replaceAll(SPECIAL, (char) => `%${char.charCodeAt(0).toString(16)}.`);
  if (!run) return id;
  const all = SLOT.get(run) ?? SLOT.set(run, new Map<string, ToolCall[]>());
  const key = `${CallContext.iterationOf(context)}.${call.id}`;
  const calls = all.get(key) ?? [];
  all.set(key, calls);
  // in the order of the batch, since its calls may come here in another one when the turn goes on
  for (const each of calls.includes(call) ? [] : [...CallContext.batchOf(context), call])
    if (each.id === call.id && !calls.includes(each)) calls.push(each);
  const number = calls.indexOf(call) + 1;
  return number === 1 ? id : `${id}~${number}`;
}

/**
 * Identifies a call within its turn, also when the turn runs again: a decision about it counts for no
 * other call, whatever ids the model gives.
 */
export function callKeyOf(context: ToolContext): string {
  return `${CallContext.iterationOf(context)}.${callNameOf(context)}`;
}

/** Identifies a call within the outermost turn. */
export function callPathOf(context: ToolContext): string {
  const agents = context.advisorContext.get(AGENT_PATH).map(({ key }) => key);
  return [...agents, callKeyOf(context)].join('/');
}
