import type { ToolResult } from '../chat/chat-event.js';
import { type TurnId, RunSlot } from '../chat/context.js';
import { wireIdOf, type CheckedCall, type ToolCall } from '../chat/message.js';
import { AdvisorChainError, hasCode } from '../errors/advisor-chain-error.js';
import type { ToolContext } from '../tool/tool.js';
import type { ErrorClass } from './manager-options.js';
import { originOf } from './tool-context.js';
import type { Batch } from './tool-run.js';

interface KeptCall {
  readonly call: ToolCall;
  /** The call as it ran, if an advisor or a person has changed its arguments. */
  readonly edited: { readonly ran: ToolCall; readonly checkedRan: CheckedCall } | undefined;
  readonly turn: TurnId;
  /** Number of messages before the batch of the call. */
  readonly messages: number;
  /** Position in the batch. */
  readonly position: number;
  readonly result: ToolResult;
}

/** The successful calls of a run, by their id. */
const KEPT = new RunSlot<Map<string, KeptCall[]>>();

/**
 * The same call with its result, if the run has already made it: an advisor left of the tool loop that
 * repeats the turn must not repeat the effects of its tools. The same call has the same id, name and
 * arguments at the same place in the conversation; a model that answers otherwise makes other calls.
 */
export function keptResult(call: ToolCall, batch: Batch): KeptCall | undefined {
  const calls = KEPT.get(batch.record)?.get(call.id);
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

export function keepResult(
  { call, edited, result }: Pick<KeptCall, 'call' | 'edited' | 'result'>,
  batch: Batch,
): void {
  const calls = callsOf(batch);
  // a spread that comes first gives each object a hidden class of its own
  const kept = { call, edited, turn: batch.turn, ...placeOf(call, batch), result };
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

function callsOf({ record }: Batch): Map<string, KeptCall[]> {
  return KEPT.get(record) ?? KEPT.set(record, new Map<string, KeptCall[]>());
}

/**
 * Notes if the tool of a call failed the last time that it ran: an error of an advisor around it is a
 * failure of the tool then, whose handling the tool decides.
 */
export function noteToolEnd(context: ToolContext, hasFailed: boolean): void {
  const origin = originOf(context);
  if (origin) origin.toolRun = hasFailed ? 'failed' : 'none';
}

/** True if the tool failed the last time that it ran, or did so in the execution that was recorded. */
export function hasToolFailed(context: ToolContext): boolean {
  return originOf(context)?.toolRun === 'failed';
}

/** True if the tool has not run since {@link noteToolEnd}; undefined for a context that no batch has made. */
export function isToolUntouched(context: ToolContext): boolean | undefined {
  const origin = originOf(context);
  return origin && origin.toolRun === 'none';
}

/** True for the error of a call that waits for a person. */
export function isPause(error: unknown): boolean {
  try {
    return hasCode(error, 'turn_paused');
  } catch {
    return false; // a getter or a proxy threw
  }
}

/**
 * A tool throws a `ToolError` to report a failure of its own; a limit has interrupted it. A tool asks
 * the user before it has an effect.
 */
export function isWithoutEffect(error: unknown): boolean {
  if (hasCode(error, 'tool_question', 'turn_paused')) return true;
  return hasCode(error, 'tool') && !hasCode(error.cause, 'limit_exceeded');
}

/** False if the tool has reported an error; a result that could not be converted comes from a tool that ran. */
export function hasRun(result: ToolResult): boolean {
  return !result.isError || (result.error !== undefined && 'value' in result);
}

/** The message of a `ToolError`; undefined for any other error. */
export function messageForModel(error: unknown): string | undefined {
  try {
    return AdvisorChainError.isInstance(error) && error.code === 'tool'
      ? error.message.trim()
      : undefined;
  } catch {
    return undefined; // a getter or a proxy threw
  }
}

/** The result of a call that has none yet; the batch of a paused call rejects. */
export const UNFINISHED: ToolResult = { content: 'Waits for a decision.' };

export const CANCELLED: ToolResult = {
  content: 'Not run to its end: the turn was cancelled.',
  isError: true,
};

/**
 * An error result with the message of a `ToolError`, or a general one: other messages may contain
 * secrets.
 */
export function failedResult(call: ToolCall, error: unknown): ToolResult {
  const content =
    messageForModel(error) || `The tool "${call.name}" failed. Error id: ${wireIdOf(call)}`;
  return { content, isError: true, error };
}

/** Also of a proxy that throws. */
export function isInstance(error: unknown, type: ErrorClass): boolean {
  try {
    return error instanceof type;
  } catch {
    return false;
  }
}
