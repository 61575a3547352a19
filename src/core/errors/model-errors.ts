import { AdvisorChainError } from './advisor-chain-error.js';
import { isContextOverflow } from './context-overflow.js';

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
  /** Name of the model, as it was requested. */
  readonly model?: string | undefined;
  /** Address of the request, without query and credentials. */
  readonly url?: string | undefined;
  /** Id of the request at the provider, from the headers of its answer: for its support. */
  readonly requestId?: string | undefined;
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
  readonly model: string | undefined;
  readonly url: string | undefined;
  readonly requestId: string | undefined;

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
    this.model = options.model;
    this.url = options.url;
    this.requestId = options.requestId;
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

/**
 * Reason for which an answer has no value: the model refused it, wrote nothing, no JSON, JSON that
 * does not fit the schema, or reached its token limit before the end.
 */
export type StructuredOutputReason = 'refusal' | 'empty' | 'not-json' | 'mismatch' | 'cut-off';

/** The answer of the model does not fit the schema of the entity. */
export class StructuredOutputError extends AdvisorChainError {
  override name = 'StructuredOutputError';
  readonly code = 'structured_output';

  constructor(
    message: string,
    readonly reason: StructuredOutputReason,
    /** The answer, unchanged. */
    readonly text: string,
    /** One sentence per violation. */
    readonly issues: readonly string[],
    options?: ErrorOptions,
    /** The errors of earlier attempts, first to last; empty if the model was asked once. */
    readonly earlierAttempts: readonly StructuredOutputError[] = [],
  ) {
    super(message, options);
  }
}
