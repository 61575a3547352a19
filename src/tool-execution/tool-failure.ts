import type { ToolResult } from '../chat/chat-event.js';
import type { ToolCall } from '../chat/message.js';
import { AdvisorChainError } from '../errors.js';
import { untilCancelled, type Cancellation } from '../internal/cancellation.js';
import type { Tool, ToolErrorPolicy } from '../tool/tool.js';
import type { BatchContext, ErrorClass } from './tool-run.js';

/** The outcome of a call: its result for the model, and an error for the caller. */
export interface ToolFailure {
  readonly result: ToolResult;
  /**
   * Thrown when the whole batch has ended: unchanged, or as the cause of a `ToolExecutionError`.
   */
  readonly thrown?: { readonly error: unknown; readonly rethrowUnchanged: boolean } | undefined;
}

/** Applies the error policy of a tool to a failed call. Never throws or rejects. */
export function toFailure(
  call: ToolCall,
  tool: Tool | undefined,
  error: unknown,
  batch: BatchContext,
): ToolFailure | Promise<ToolFailure> {
  if (batch.cancellation.cancelled) return { result: cancelledResult() };
  const result = failedResult(call, error);
  if (batch.rethrow.some((type) => isInstance(error, type)))
    return { result, thrown: { error, rethrowUnchanged: true } };
  const policy = tool?.metadata.onToolError ?? batch.onToolError;
  if (typeof policy === 'function') return callPolicy(policy, call, result, batch.cancellation);
  return policy === 'throw' ? { result, thrown: { error, rethrowUnchanged: false } } : { result };
}

async function callPolicy(
  policy: Exclude<ToolErrorPolicy, string>,
  call: ToolCall,
  result: ToolResult,
  cancellation: Cancellation,
): Promise<ToolFailure> {
  try {
    const running = (async (): Promise<unknown> => policy(result.error, call))();
    const content = await untilCancelled(running, cancellation);
    const isText = typeof content === 'string' && content.trim() !== '';
    return { result: isText ? { ...result, content } : result };
  } catch (error) {
    return cancellation.cancelled
      ? { result: cancelledResult() }
      : { result, thrown: { error, rethrowUnchanged: true } };
  }
}

export function errorResult(content: string): ToolResult {
  return { content, isError: true };
}

export function cancelledResult(): ToolResult {
  return errorResult('Not run to its end: the turn was cancelled.');
}

/**
 * An error result with the message of a `ToolError`, or a general one: other messages may contain
 * secrets.
 */
export function failedResult(call: ToolCall, error: unknown): ToolResult {
  const message = messageForModel(error) || `The tool "${call.name}" failed. Error id: ${call.id}`;
  return { ...errorResult(message), error };
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

function isInstance(error: unknown, type: ErrorClass): boolean {
  try {
    return error instanceof type;
  } catch {
    return false;
  }
}
