import { ContextKey, type AdvisorContext } from '../chat/context.js';
import type { Step, ToolCallRecord } from '../chat/run-report.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import { checkOption, FUNCTION, integer, TEXT } from '../internal/options.js';

/**
 * Decides if a turn ends after an iteration, once the tool calls of its answer have results.
 * @param steps the iterations of the turn so far, with their results
 */
export type StopCondition<T extends OfferedTool = OfferedTool> = (
  steps: readonly Step<T>[],
) => boolean | PromiseLike<boolean>;

/** A condition about a tool; its name is known to the compiler alone. */
export interface OfTool<Name extends string = string> {
  readonly toolName?: Name;
}

/** A condition of a request whose client has the tools `T`. */
export type StopConditionOf<T extends OfferedTool> = StopCondition<T> & OfTool<NameOf<T>>;

type NameOf<T> = T extends OfferedTool<infer Name> ? Name : never;

/** The conditions of a request. */
export const STOP_WHEN = new ContextKey<readonly StopCondition[]>('advisor-chain.stop-when', []);

/** @throws {@link InvalidArgumentError} if a condition is not a function */
export function addStopConditions(
  params: AdvisorContext,
  conditions: readonly StopCondition[],
): AdvisorContext {
  for (const condition of conditions) checkOption('stopWhen(…)', 'condition', condition, FUNCTION);
  return params.with(STOP_WHEN, [...params.get(STOP_WHEN), ...conditions]);
}

/**
 * Ends a turn after a number of model calls that asked for tools.
 * @param count an integer >= 1
 * @throws {@link InvalidArgumentError} if it is not
 */
export function afterCalls(count: number): StopCondition {
  checkOption('afterCalls(…)', 'count', count, integer(1));
  return (steps) => steps.length >= count;
}

/**
 * Ends a turn when the last answer has called a tool. A call whose result is an error does not
 * count: the model reads it and tries again.
 * @throws {@link InvalidArgumentError} if the name is not a text
 */
export function afterToolCall<const Name extends string>(
  toolName: Name,
): StopCondition & OfTool<Name> {
  checkOption('afterToolCall(…)', 'toolName', toolName, TEXT);
  const isCall = (call: ToolCallRecord): boolean =>
    call.toolName === toolName && call.result !== undefined && call.result.isError !== true;
  return (steps) => steps.at(-1)?.toolCalls.some(isCall) === true;
}
