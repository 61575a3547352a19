import type { ToolCall } from '../chat/message.js';
import { memoize } from '../internal/memoize.js';
import { argumentsKey } from './call-arguments.js';

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
