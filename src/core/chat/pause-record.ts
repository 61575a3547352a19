import { interruptCalls } from './loop-record.js';
import type { ToolCall } from './message.js';
import type { RunRecord } from './run-record.js';

/** Marks a call that waits for a person: it has no result, and has not had its effect. */
export function pauseCall({ toolCalls }: RunRecord, call: ToolCall): void {
  const paused = toolCalls.findLast((record) => record.call === call);
  if (paused) paused.status = 'requested';
}

/** Ends the record of a run whose turn waits for people. */
export function pauseRecord(run: RunRecord): void {
  interruptCalls(run.toolCalls);
  run.clearText();
  run.answered = undefined;
}
