import type { ToolResult } from '../chat/chat-event.js';
import type { ToolCall } from '../chat/message.js';
import { pauseCall } from '../chat/paused-record.js';
import { RunRecord } from '../chat/run-record.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import type { FinishedCall } from './execution-result.js';
import type { Batch } from './tool-run.js';

/** Not used: the batch rejects. */
const PAUSED: ToolResult = { content: 'Waits for a decision.' };

/** True for the error of a call that waits for a person. */
export function isPause(error: unknown): boolean {
  try {
    return hasCode(error, 'turn_paused');
  } catch {
    return false; // a getter or a proxy threw
  }
}

/** A call that ends without a result: it runs when its turn is resumed. */
export function pausedCall(call: ToolCall, error: unknown, { cancellation }: Batch): FinishedCall {
  const run = RunRecord.owning(cancellation);
  if (run) pauseCall(run, call);
  const executed = { call, result: PAUSED, accepted: false };
  return { executed, returnDirect: false, thrown: { error, rethrowUnchanged: true }, paused: true };
}
