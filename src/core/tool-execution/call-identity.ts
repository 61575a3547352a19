import {
  CONVERSATION_ID,
  ContextKey,
  type AdvisorContext,
  type TurnId,
  RunSlot,
} from '../chat/context.js';
import { wireIdOf, type ToolCall } from '../chat/message.js';
import { jsonKey } from '../internal/json.js';
import { memoize } from '../internal/memoize.js';
import { sha256Hex } from '../internal/text.js';
import type { ToolContext } from '../tool/tool.js';
import { originOf, runOf } from './tool-context.js';

/** The call of an agent that a turn runs in. */
export interface AgentCall {
  readonly toolName: string;
  /** Identifies the call within its turn; see {@link callKeyOf}. */
  readonly key: string;
}

/** The calls of agents around a turn, the outermost first. */
export const AGENT_PATH = new ContextKey<readonly AgentCall[]>('advisor-chain.agent-path', []);

/** An id with these could have the name of another call, or of a step of it. */
const SPECIAL = /[^\w.:-]/g;

/** The calls of a run by their iteration and id for the model. */
const NAMED = new RunSlot<Map<string, ToolCall[]>>();

/**
 * The id of a call for its model, with its number if its batch has several with this id: models repeat them.
 * Calls of other iterations may have it, too.
 */
export function callNameOf(context: ToolContext): string {
  const origin = originOf(context);
  const { call } = origin ?? context;
  const run = runOf(context);
  const given = wireIdOf(call);
  const id = given.replaceAll(SPECIAL, (char) => `%${char.charCodeAt(0).toString(16)}.`);
  if (!run) return id;
  const all = NAMED.get(run) ?? NAMED.set(run, new Map<string, ToolCall[]>());
  const key = `${iterationOf(context)}.${given}`;
  const calls = all.get(key) ?? [];
  all.set(key, calls);
  // in the order of the batch, since its calls may come here in another one in a resumed turn
  for (const each of calls.includes(call) ? [] : [...(origin?.batch.calls ?? []), call])
    if (wireIdOf(each) === given && !calls.includes(each)) calls.push(each);
  const number = calls.indexOf(call) + 1;
  return number === 1 ? id : `${id}~${number}`;
}

/**
 * Identifies a call within its turn, also in a replay: a decision about it counts for no
 * other call, whatever ids the model gives.
 */
export function callKeyOf(context: ToolContext): string {
  return `${iterationOf(context)}.${callNameOf(context)}`;
}

const iterationOf = (context: ToolContext): number => originOf(context)?.batch.iteration ?? 0;

/** Identifies a call within the outermost turn. */
export function callPathOf(context: ToolContext): string {
  const agents = context.advisorContext.get(AGENT_PATH).map(({ key }) => key);
  return [...agents, callKeyOf(context)].join('/');
}

/**
 * Hashes the conversation, the turn, the tool, the arguments as the model wrote them (as values), and
 * the number of the call among equal ones. The id of the call is left out: a provider makes another
 * one in a replayed turn.
 */
export function idempotencyKey(
  call: ToolCall,
  number: number,
  { advisorContext, turn }: { readonly advisorContext: AdvisorContext; readonly turn: TurnId },
): string {
  const conversation = advisorContext.get(CONVERSATION_ID) ?? null;
  return sha256Hex(JSON.stringify([conversation, turn.id, call.name, argumentsKey(call), number]));
}

/** The key of a call whose arguments were replaced: another call may have the same ones. */
export function editedKey(key: string, edited: ToolCall): string {
  return sha256Hex(JSON.stringify([key, argumentsKey(edited)]));
}

/** The calls of one answer, which are made together, and the ids of those that failed. */
export interface CallRound {
  readonly calls: readonly ToolCall[];
  readonly failed: ReadonlySet<string>;
}

/** Each call of a turn is compared with all later ones of its tool. */
const keyOf = memoize(argumentsKey);

/**
 * The number of a call among equal ones of its turn, from 0. A call that failed gives its number to
 * the next equal one: the model makes it again.
 */
export function callNumber(
  call: ToolCall,
  calls: readonly ToolCall[],
  earlier: readonly CallRound[],
): number {
  const equalOf = (list: readonly ToolCall[]): readonly ToolCall[] =>
    list.filter((each) => each.name === call.name && keyOf(each) === keyOf(call));
  let free: readonly number[] = [];
  let next = 0;
  for (const round of earlier) {
    const equal = equalOf(round.calls);
    const numbers = equal.map((_, at) => free[at] ?? next++);
    const failed = numbers.filter((_, at) => round.failed.has((equal[at] as ToolCall).id));
    free = [...free.slice(equal.length), ...failed].sort((a, b) => a - b);
  }
  const before = equalOf(calls.slice(0, calls.indexOf(call))).length;
  return free[before] ?? next + before - free.length;
}

/** Compares two calls by their name, and by their arguments as values. */
export function isSameCall(a: ToolCall, b: ToolCall): boolean {
  return a.name === b.name && (a.arguments === b.arguments || argumentsKey(a) === argumentsKey(b));
}

/** A text that is equal for equal arguments; of invalid JSON, the text itself. */
export function argumentsKey({ arguments: text }: ToolCall): string {
  try {
    const key = text?.trim() ? jsonKey(text) : '{}';
    return key === 'null' ? '{}' : key;
  } catch {
    return text;
  }
}
