import type { Cancellation } from '../chat/cancellation.js';
import type { ToolResult } from '../chat/chat-event.js';
import type { ToolCall } from '../chat/message.js';
import { AdvisorChainError } from '../errors.js';
import type { Tool, ToolErrorPolicy } from './tool.js';
import { untilCancelled } from './until-cancelled.js';

/** A class of errors, with those below it. */
export type ErrorClass = abstract new (...args: never) => unknown;

/** What happens when calls fail. */
export interface FailureOptions {
  readonly onToolError: ToolErrorPolicy;
  readonly rethrow: readonly ErrorClass[];
  readonly cancellation: Cancellation;
}

/** What a failed call leads to. */
export interface ToolFailure {
  /** What the model is told, where anybody tells it. */
  readonly result: ToolResult;
  /** What ends the batch once all of it has ended. */
  readonly thrown?: ThrownFailure;
}

/** An error for the caller, as it is or as the cause of a `ToolExecutionError`. */
export interface ThrownFailure {
  readonly error: unknown;
  readonly asItIs: boolean;
}

const CANCELLED = 'Not run to its end: the turn was cancelled.';

/** The result of a call of a turn that is cancelled. */
export function cancelled(): ToolResult {
  return errorResult(CANCELLED);
}

/** A result that tells of a failure. */
export function errorResult(content: string): ToolResult {
  return { content, isError: true };
}

/** Decides what a failed call leads to. Never fails, whatever the error is. */
export function failureOf(
  call: ToolCall,
  tool: Tool | undefined,
  error: unknown,
  options: FailureOptions,
): ToolFailure | Promise<ToolFailure> {
  if (options.cancellation.cancelled) return { result: cancelled() };
  const result = failedResult(call, error);
  if (options.rethrow.some((type) => isInstance(error, type))) return { result, thrown: { error, asItIs: true } };
  const policy = tool?.metadata.onToolError ?? options.onToolError;
  if (typeof policy === 'function') return ask(policy, call, result, options.cancellation);
  return policy === 'throw' ? { result, thrown: { error, asItIs: false } } : { result };
}

async function ask(
  policy: Exclude<ToolErrorPolicy, string>,
  call: ToolCall,
  result: ToolResult,
  cancellation: Cancellation,
): Promise<ToolFailure> {
  try {
    const said: unknown = await untilCancelled((async () => policy(result.error, call))(), cancellation);
    return { result: typeof said === 'string' && said.trim() !== '' ? { ...result, content: said } : result };
  } catch (error) {
    return cancellation.cancelled ? { result: cancelled() } : { result, thrown: { error, asItIs: true } };
  }
}

/** The result of a call that failed with an error. */
export function failedResult(call: ToolCall, error: unknown): ToolResult {
  return { ...errorResult(messageForModel(error) || `The tool "${call.name}" failed. Error id: ${call.id}`), error };
}

/** The message of a `ToolError`; undefined for any other error, which may hold secrets. */
export function messageForModel(error: unknown): string | undefined {
  try {
    return AdvisorChainError.isInstance(error) && error.code === 'tool' ? error.message.trim() : undefined;
  } catch {
    return undefined; // an error that throws at whoever looks at it
  }
}

function isInstance(error: unknown, type: ErrorClass): boolean {
  try {
    return error instanceof type;
  } catch {
    return false;
  }
}
