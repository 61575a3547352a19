import { AdvisorChainError } from './advisor-chain-error.js';

/** Thrown by a tool whose message may be sent to the model unchanged. */
export class ToolError extends AdvisorChainError {
  override name = 'ToolError';
  readonly code = 'tool';
}

/** The definition of a tool is invalid; the message has the tool and the position. */
export class ToolDefinitionError extends AdvisorChainError {
  override name = 'ToolDefinitionError';
  readonly code = 'tool_definition';

  constructor(
    message: string,
    readonly toolName: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A tool has run, but its result does not fit its output schema. */
export class ToolOutputError extends AdvisorChainError {
  override name = 'ToolOutputError';
  readonly code = 'tool_output';

  constructor(
    message: string,
    readonly toolName: string,
    /** The problems found in the result. */
    readonly issues: readonly string[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A tool call failed and `onToolError` is `'throw'`. No result is lost: see `result`. */
export class ToolExecutionError<Result = unknown> extends AdvisorChainError {
  override name = 'ToolExecutionError';
  readonly code = 'tool_execution';

  constructor(
    message: string,
    readonly toolName: string,
    readonly callId: string,
    /** The results of the whole batch, with a text about the failure for the failed call. */
    readonly result: Result,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * A tool call with an effect was interrupted, and is not run again: it may have had its effect. It is
 * the `cause` of the `ToolError` that the model reads.
 */
export class ToolOutcomeUnknownError extends AdvisorChainError {
  override name = 'ToolOutcomeUnknownError';
  readonly code = 'tool_outcome_unknown';

  constructor(
    message: string,
    readonly toolName: string,
    /** The idempotency key of the call, by which the service with the effect may know it. */
    readonly key: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A tool provider failed, timed out or returned an invalid tool; `cause` is what it threw. */
export class ToolProviderError extends AdvisorChainError {
  override name = 'ToolProviderError';
  readonly code = 'tool_provider';

  constructor(
    message: string,
    readonly providerName: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An MCP server could not be reached, broke the protocol, or ended; `cause` is the reason. */
export class McpServerError extends AdvisorChainError {
  override name = 'McpServerError';
  readonly code = 'mcp_server';

  constructor(
    message: string,
    readonly serverName: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
