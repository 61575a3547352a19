import type { ToolResult } from '../chat/chat-event.js';
import { ToolError, ToolOutcomeUnknownError } from '../errors.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import type { ToolInvocation } from '../tool/tool.js';

/**
 * A tool throws a `ToolError` to report a failure of its own; a limit has interrupted it. A tool asks
 * the user before it has an effect.
 */
export function isWithoutEffect(error: unknown): boolean {
  if (hasCode(error, 'tool_question', 'turn_paused')) return true;
  return hasCode(error, 'tool') && !hasCode(error.cause, 'limit_exceeded');
}

/** False if the tool has reported an error; a result that could not be converted is that of a tool that ran. */
export function hasRun(result: ToolResult): boolean {
  return !result.isError || (result.error !== undefined && 'value' in result);
}

/** The error of a call that is not run again. */
export function unknownOutcome({ call: { name }, context }: ToolInvocation): ToolError {
  const problem = `An earlier attempt of this call of "${name}" was interrupted, and may have had its effect`;
  const todo = 'find out with the idempotency key, or set onUnknown of the ToolLedgerAdvisor';
  const message = `${problem}; ${todo}.`;
  const cause = new ToolOutcomeUnknownError(message, name, context.idempotencyKey);
  return new ToolError(`Not run: ${problem}. Do not repeat it; report this.`, { cause });
}
