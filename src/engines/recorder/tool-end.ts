import type { ToolResult } from '../../core/chat/chat-event.js';
import { decodeError, encodeError, type EncodedError } from '../../core/chat/error-codec.js';
import type { EncodedCalls } from '../../core/chat/ledger-codec.js';
import { DurableTurnError } from '../../core/errors/errors.js';
import type { JsonValue } from '../../core/internal/json.js';
import { reasonOf } from '../../core/errors/describe.js';
import { decodeResult, encodeResult } from '../../core/tool/result-codec.js';

/** The end of a tool call. */
export type ToolEnd = { readonly result: ToolResult } | { readonly error: unknown };

/** The recorded end of a tool call. */
export type RecordedEnd = {
  readonly result?: string;
  /** The content of a result that has no more than a text, a scalar value and `isError`. */
  readonly text?: string;
  readonly isError?: true;
  readonly value?: JsonValue;
  readonly error?: EncodedError;
  /** False if an advisor between the step and the tool has failed, not the tool. */
  readonly hasToolFailed?: boolean;
  /**
   * True if the next step of the call runs the tool: an interrupted call is to run again, or the tool
   * was not called, since something around it has failed.
   */
  readonly isRepeated?: true;
  /** True if `error` is the question about an interrupted call: the next step of the call has the answer. */
  readonly isAsked?: true;
  /** Model calls of an agent. */
  readonly calls?: EncodedCalls;
};

/** @throws {@link DurableTurnError} if JSON cannot hold what the model or an advisor gets */
export function recordedResult(result: ToolResult, toolName: string): RecordedEnd {
  const { error } = result;
  const recorded = plainResult(result) ?? { result: jsonOf(result, toolName) };
  return error === undefined ? recorded : { ...recorded, error: encodeError(error) };
}

/** Most results are a text: encoding them as a message costs more than the step. */
function plainResult(result: ToolResult): RecordedEnd | undefined {
  const { content, isError, value, unlocks, locks, context } = result;
  if (typeof content !== 'string' || unlocks || locks || context) return undefined;
  if (value !== undefined && typeof value !== 'string' && typeof value !== 'boolean')
    return undefined;
  return { text: content, ...(isError && { isError }), ...(value !== undefined && { value }) };
}

function jsonOf(result: ToolResult, toolName: string): string {
  try {
    return encodeResult(result).text;
  } catch (error) {
    const problem = `the result of the tool "${toolName}" cannot be recorded as a step of a durable turn`;
    throw new DurableTurnError(`${problem}: ${reasonOf(error)}`, { cause: error });
  }
}

export function decodeEnd({ result, text, isError, value, error }: RecordedEnd): ToolEnd {
  if (result === undefined && text === undefined) return { error: error && decodeError(error) };
  const plain = {
    content: text ?? '',
    ...(isError && { isError }),
    ...(value !== undefined && { value }),
  };
  const decoded: ToolResult = result === undefined ? plain : decodeResult(result);
  return { result: error ? { ...decoded, error: decodeError(error) } : decoded };
}
