import type { ToolResult } from '../chat/chat-event.js';
import type { TurnId } from '../chat/context.js';
import type { ToolCall } from '../chat/message.js';
import { RunRecord } from '../chat/run-record.js';
import type { Batch } from './tool-run.js';

interface KeptCall {
  readonly call: ToolCall;
  /** The call as it ran: an advisor may have changed its arguments. */
  readonly ran: ToolCall;
  readonly turn: TurnId;
  /** Number of messages before the batch of the call. */
  readonly messages: number;
  /** Position in the batch. */
  readonly position: number;
  readonly result: ToolResult;
}

/** The successful calls of each run, by their id. */
const keptCalls = new WeakMap<RunRecord, Map<string, KeptCall[]>>();

/**
 * The same call with its result, if the run has already made it: an advisor left of the tool loop that
 * repeats the turn must not repeat the effects of its tools. The same call has the same id, name and
 * arguments at the same place in the conversation; a model that answers otherwise makes other calls.
 */
export function keptResult(call: ToolCall, batch: Batch): KeptCall | undefined {
  const calls = callsOf(batch)?.get(call.id);
  if (!calls) return undefined;
  const { messages, position } = placeOf(call, batch);
  return calls.find(
    (kept) =>
      kept.messages === messages &&
      kept.position === position &&
      kept.call.name === call.name &&
      kept.call.arguments === call.arguments &&
      // the id is random and made on access
      (kept.turn === batch.turn || kept.turn.id === batch.turn.id),
  );
}

export function keepResult(call: ToolCall, ran: ToolCall, batch: Batch, result: ToolResult): void {
  const calls = callsOf(batch);
  if (!calls) return;
  const kept = { call, ran, turn: batch.turn, ...placeOf(call, batch), result };
  const same = calls.get(call.id);
  if (same) same.push(kept);
  else calls.set(call.id, [kept]);
}

function placeOf(
  call: ToolCall,
  { prompt, calls }: Batch,
): Pick<KeptCall, 'messages' | 'position'> {
  return { messages: prompt.length, position: calls.indexOf(call) };
}

/** Undefined for calls that belong to no run. */
function callsOf({ cancellation }: Batch): Map<string, KeptCall[]> | undefined {
  const run = RunRecord.owning(cancellation);
  if (!run) return undefined;
  const calls = keptCalls.get(run) ?? new Map<string, KeptCall[]>();
  keptCalls.set(run, calls);
  return calls;
}
