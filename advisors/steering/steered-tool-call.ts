import { isCancelled } from '../../src/core/advisor/attempts.js';
import type { ToolResult } from '../../src/core/chat/chat-event.js';
import { Cancellation, untilCancelled } from '../../src/core/internal/cancellation.js';
import { CallContext } from '../../src/core/tool-execution/tool-context.js';
import type { ToolCallHandler, ToolInvocation } from '../../src/core/tool/tool.js';
import type { SteeredTurn } from './steered-turn.js';

const NOT_RUN: ToolResult = {
  content: 'Not run: the user has sent another message.',
  isError: true,
};
const CANCELLED =
  'Cancelled before its end: the user has sent another message. It may have had its effect.';

/** Runs a tool call until a message interrupts; the other calls of its batch do not start then. */
export async function runSteered(
  call: ToolInvocation,
  next: ToolCallHandler,
  { interruption }: SteeredTurn,
): Promise<ToolResult> {
  // its result may be the answer of the turn, which the text of an interruption must not become
  if (call.tool.metadata.returnDirect) return next(call);
  if (interruption.cancelled) return NOT_RUN;
  const outer = CallContext.cancellationOf(call.context);
  const own = new Cancellation(undefined, outer.owner);
  const cancel = (reason: unknown): void => own.cancel(reason);
  const releases = [outer.onCancel(cancel), interruption.onCancel(cancel)];
  const context = CallContext.withLimit(call.context, own, call.context);
  try {
    return await untilCancelled(next({ ...call, context }), own);
  } catch (error) {
    if (interruption.cancelled && isCancelled(error))
      return { content: CANCELLED, isError: true, error };
    throw error;
  } finally {
    for (const release of releases) release();
  }
}
