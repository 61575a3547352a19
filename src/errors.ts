import { AdvisorChainError } from './errors/advisor-chain-error.js';
import { isContextOverflow } from './errors/context-overflow.js';

export { AdvisorChainError } from './errors/advisor-chain-error.js';
export * from './errors/approval-error.js';
export * from './errors/durable-errors.js';
export * from './errors/guard-error.js';
export * from './errors/limit-exceeded-error.js';
export * from './errors/paused-state-error.js';
export * from './errors/turn-paused-error.js';
export { StoreBusyError } from './errors/store-busy-error.js';
export * from './errors/structured-output-error.js';

/** An argument or option is invalid; the message has its name, the rule and the value. */
export class InvalidArgumentError extends AdvisorChainError {
  override name = 'InvalidArgumentError';
  readonly code = 'invalid_argument';
}

/** The advisors do not form a chain, or one of them broke the contract of a chain. */
export class ChainError extends AdvisorChainError {
  override name = 'ChainError';
  readonly code = 'chain';
}

/** The run was cancelled; `cause` is the reason of its signal. */
export class CancelledError extends AdvisorChainError {
  override name = 'CancelledError';
  readonly code = 'cancelled';
}

/** A template has placeholders without a value. */
export class TemplateError extends AdvisorChainError {
  override name = 'TemplateError';
  readonly code = 'template';

  constructor(
    message: string,
    /** Names of the placeholders. */
    readonly missing: readonly string[],
  ) {
    super(message);
  }
}

/** Text from outside is not valid JSON. */
export class JsonError extends AdvisorChainError {
  override name = 'JsonError';
  readonly code = 'json';
}

/** Details of a failed model call. */
export interface ModelCallErrorOptions extends ErrorOptions {
  /** HTTP status, if the server answered. */
  readonly status?: number | undefined;
  /** The provider's own error code. */
  readonly providerCode?: string | undefined;
  /** The provider's own message, without credentials. */
  readonly providerMessage?: string | undefined;
  /** True if the same request may succeed later. */
  readonly retryable?: boolean;
  /** Milliseconds to wait before a retry, if the server requested it. */
  readonly retryAfter?: number | undefined;
  /**
   * True if the input does not fit into the context window, so that a shorter one may succeed.
   * @default decided by `status`, `providerCode` and `providerMessage`
   */
  readonly contextOverflow?: boolean;
  /** Text received before the failure. */
  readonly partialText?: string | undefined;
  /** Tokens that the provider reported before the failure. */
  readonly usage?: TokenCounts | undefined;
}
type TokenCounts = Readonly<Record<'inputTokens' | 'outputTokens' | 'totalTokens', number>>;

/** A model could not be reached, rejected the request or sent an unusable answer. */
export class ModelCallError extends AdvisorChainError {
  override name = 'ModelCallError';
  readonly code: string = 'model_call';
  readonly status: number | undefined;
  readonly providerCode: string | undefined;
  readonly providerMessage: string | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly contextOverflow: boolean;
  readonly partialText: string | undefined;
  readonly usage: TokenCounts | undefined;

  constructor(message: string, options: ModelCallErrorOptions = {}) {
    super(message, options);
    this.status = options.status;
    this.providerCode = options.providerCode;
    this.providerMessage = options.providerMessage;
    this.retryable = options.retryable ?? false;
    this.retryAfter = options.retryAfter;
    this.contextOverflow =
      options.contextOverflow ??
      isContextOverflow({
        status: options.status,
        codes: [options.providerCode ?? ''],
        texts: [options.providerMessage ?? ''],
      });
    this.partialText = options.partialText;
    this.usage = options.usage;
  }
}

/** The answer ended without a finish reason or end marker, and must not be used. */
export class IncompleteResponseError extends ModelCallError {
  override name = 'IncompleteResponseError';
  override readonly code = 'incomplete_response';
}

/** The model sent nothing for longer than a time limit. */
export class ModelTimeoutError extends ModelCallError {
  override name = 'ModelTimeoutError';
  override readonly code = 'model_timeout';
  /** Name of the option with the time limit, such as `idleTimeout` of a model. */
  readonly option: string | undefined;

  constructor(
    message: string,
    options: ModelCallErrorOptions & { readonly option?: string | undefined } = {},
  ) {
    super(message, options);
    this.option = options.option;
  }
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

/** Thrown by a tool whose message may be sent to the model unchanged. */
export class ToolError extends AdvisorChainError {
  override name = 'ToolError';
  readonly code = 'tool';
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
