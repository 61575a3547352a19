import type { ToolCall } from '../chat/message.js';

const failed = new WeakSet<ToolCall>();

/**
 * Notes if the tool of a call failed the last time that it ran: an error of an advisor around it is a
 * failure of the tool then, whose handling the tool decides.
 */
export function noteToolEnd(call: ToolCall, hasFailed: boolean): void {
  if (hasFailed) failed.add(call);
  else failed.delete(call);
}

/** True if the tool failed the last time that it ran, or did so in the execution that was recorded. */
export function hasToolFailed(call: ToolCall): boolean {
  return failed.has(call);
}
