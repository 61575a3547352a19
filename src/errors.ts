const BRAND = Symbol.for('advisor-chain.error');

/** What every error of this package has besides its message. */
export interface AdvisorChainErrorOptions {
  /** The error that led to this one, unchanged. */
  readonly cause?: unknown;
}

/** Base of all errors of this package; tell them apart by {@link code}, which never changes. */
export abstract class AdvisorChainError extends Error {
  abstract readonly code: string;
  readonly [BRAND] = true;

  constructor(message: string, options: AdvisorChainErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    // for classes of others; ours write their names out, since a minified bundle gives its classes other ones
    this.name = new.target.name;
  }

  /** Whether a value is an error of this package, also when it comes from a second copy of it. */
  static isInstance(value: unknown): value is AdvisorChainError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** An argument or option was refused; the message names it, the rule and the value. */
export class InvalidArgumentError extends AdvisorChainError {
  override name = 'InvalidArgumentError';
  readonly code = 'invalid_argument';
}

/** The advisors do not make a chain, or one of them broke the contract of a chain. */
export class ChainError extends AdvisorChainError {
  override name = 'ChainError';
  readonly code = 'chain';
}

/** The caller aborted the run; `cause` is the reason of its signal. */
export class CancelledError extends AdvisorChainError {
  override name = 'CancelledError';
  readonly code = 'cancelled';
}

/** A template names values that were not given. */
export class TemplateError extends AdvisorChainError {
  override name = 'TemplateError';
  readonly code = 'template';

  constructor(
    message: string,
    /** The names without a value. */
    readonly missing: readonly string[],
  ) {
    super(message);
  }
}

/** Text from outside is not the JSON that was asked for. */
export class JsonError extends AdvisorChainError {
  override name = 'JsonError';
  readonly code = 'json';
}

/** What is known of a failed model call. */
export interface ModelCallErrorOptions extends AdvisorChainErrorOptions {
  /** HTTP status, if the server answered. */
  readonly status?: number | undefined;
  /** The provider's own error code. */
  readonly providerCode?: string | undefined;
  /** The provider's own message, without credentials. */
  readonly providerMessage?: string | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable?: boolean;
  /** Milliseconds after which the server wants to be asked again. */
  readonly retryAfter?: number | undefined;
  /** Text that had arrived before the failure. */
  readonly partialText?: string | undefined;
}

/** A model could not be asked, refused the request or answered something unusable. */
export class ModelCallError extends AdvisorChainError {
  override name = 'ModelCallError';
  readonly code: string = 'model_call';
  readonly status: number | undefined;
  readonly providerCode: string | undefined;
  readonly providerMessage: string | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly partialText: string | undefined;

  constructor(message: string, options: ModelCallErrorOptions = {}) {
    super(message, options);
    this.status = options.status;
    this.providerCode = options.providerCode;
    this.providerMessage = options.providerMessage;
    this.retryable = options.retryable ?? false;
    this.retryAfter = options.retryAfter;
    this.partialText = options.partialText;
  }
}

/** The answer ended early: neither a finish reason nor an end marker arrived. Never to be taken as an answer. */
export class IncompleteResponseError extends ModelCallError {
  override name = 'IncompleteResponseError';
  override readonly code = 'incomplete_response';
}

/** The model was silent for longer than a limit allows. */
export class ModelTimeoutError extends ModelCallError {
  override name = 'ModelTimeoutError';
  override readonly code = 'model_timeout';
}

/** A tool cannot be offered as it was defined; the message names the tool and the place. */
export class ToolDefinitionError extends AdvisorChainError {
  override name = 'ToolDefinitionError';
  readonly code = 'tool_definition';

  constructor(
    message: string,
    readonly toolName: string,
    options?: AdvisorChainErrorOptions,
  ) {
    super(message, options);
  }
}

/** Thrown by a tool whose message may be shown to the model as it is. */
export class ToolError extends AdvisorChainError {
  override name = 'ToolError';
  readonly code = 'tool';
}

/** A tool call failed and the policy says that the caller is told, not the model. Nothing that was done is lost: see `result`. */
export class ToolExecutionError<Result = unknown> extends AdvisorChainError {
  override name = 'ToolExecutionError';
  readonly code = 'tool_execution';

  constructor(
    message: string,
    readonly toolName: string,
    readonly callId: string,
    /** The results of the whole batch, a text about the failure in place of the one that is missing. */
    readonly result: Result,
    options?: AdvisorChainErrorOptions,
  ) {
    super(message, options);
  }
}

/** A tool provider failed, was late or gave something that is no tool; `cause` is what it threw. */
export class ToolProviderError extends AdvisorChainError {
  override name = 'ToolProviderError';
  readonly code = 'tool_provider';

  constructor(
    message: string,
    readonly providerName: string,
    options?: AdvisorChainErrorOptions,
  ) {
    super(message, options);
  }
}

/** A turn wanted more than its limits allow. Nothing that was done is lost: see `result` and `response`. */
export class LimitExceededError<Result = unknown, Response = unknown> extends AdvisorChainError {
  override name = 'LimitExceededError';
  readonly code = 'limit_exceeded';

  constructor(
    message: string,
    /** Which limit: calls of one tool, calls of all tools, iterations, or the same calls again and again. */
    readonly limit: LimitKind,
    readonly max: number,
    /** The tool, where the limit is one of a tool. */
    readonly toolName: string | undefined,
    /** The transcript so far, with a result for every call. */
    readonly result: Result,
    /** The answer that asked for too much, with the usage of the turn so far. */
    readonly response: Response,
  ) {
    super(message);
  }
}

/** The limits of a turn. */
export type LimitKind = 'calls-per-tool' | 'total-calls' | 'iterations' | 'identical-calls';

/** The model's answer does not fit the schema of the entity that was asked for. */
export class StructuredOutputError extends AdvisorChainError {
  override name = 'StructuredOutputError';
  readonly code = 'structured_output';

  constructor(
    message: string,
    /** The answer as the model wrote it. */
    readonly text: string,
    /** What is wrong, one sentence each. */
    readonly issues: readonly string[],
    options?: AdvisorChainErrorOptions,
  ) {
    super(message, options);
  }
}

/** A conversation was changed by somebody else since it was read; nothing was written. */
export class MemoryConflictError extends AdvisorChainError {
  override name = 'MemoryConflictError';
  readonly code = 'memory_conflict';

  constructor(
    readonly conversationId: string,
    readonly expectedVersion: number,
    /** The version that the conversation has, if the store tells. */
    readonly version: number | undefined,
  ) {
    const is = version === undefined ? 'another one' : `${version}`;
    super(`The conversation was expected to have version ${expectedVersion}, but has ${is}. Read it again, then decide.`);
  }
}

/** What a conversation has so far could not be read; no model was asked. `cause` is the error of the store. */
export class MemoryReadError extends AdvisorChainError {
  override name = 'MemoryReadError';
  readonly code = 'memory_read';

  constructor(
    message: string,
    readonly conversationId: string,
    options?: AdvisorChainErrorOptions,
  ) {
    super(message, options);
  }
}

/** A turn could not be written; `cause` is the error of the store. Nothing is lost: see `response`. */
export class MemoryWriteError<Response = unknown> extends AdvisorChainError {
  override name = 'MemoryWriteError';
  readonly code = 'memory_write';

  constructor(
    message: string,
    readonly conversationId: string,
    /** The answer of the model; undefined where the turn failed before it and its beginning was to be kept. */
    readonly response: Response | undefined,
    options?: AdvisorChainErrorOptions,
  ) {
    super(message, options);
  }
}
