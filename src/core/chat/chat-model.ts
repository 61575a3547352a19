import { ContextKey } from './context.js';
import type { Backpressure, Cancellable } from '../internal/cancellation.js';
import type { Observable } from '../internal/rxjs.js';
import type { ChatEvent } from './chat-event.js';
import type { ChatOptions } from './chat-options.js';
import type { ChatResponse, Usage } from './chat-response.js';
import type { Prompt } from './prompt.js';
import type { JsonSchema } from './tool-definition.js';

/**
 * Maximum number of retries that the model may make by itself in each call; undefined leaves it to
 * the model. An advisor that repeats model calls sets it to 0, so that the two do not multiply.
 */
export const MODEL_RETRIES = new ContextKey<number | undefined>('advisor-chain.model-retries');

/** A request that a model sends to its server, without headers. */
export interface SentBody {
  /** Address without its query; absent if it is not known. */
  readonly url?: string | undefined;
  /** Made when it is read: the JSON that is sent, or its values before a package makes JSON of them. */
  readonly body: unknown;
}

/** The run that a model call belongs to. */
export interface ModelRun {
  readonly signal?: AbortSignal | undefined;
  /** Like a listener of `signal`, but cheaper: an unused signal is never created. */
  readonly onCancel?: Cancellable['onCancel'];
  /** Checked by a stream before it reads on; see {@link Backpressure}. */
  readonly ready?: Backpressure | undefined;
  /** Takes work that may outlive a cancellation, such as a connection that is being closed. */
  readonly track?: ((work: Promise<unknown>) => void) | undefined;
  /** True if the call is in the ledger of its run already; see {@link RunReport.ledger}. */
  readonly inLedger?: boolean | undefined;
  /**
   * Maximum number of retries of a request that failed, if that is less than its own.
   * @default the model's own limit
   */
  readonly maxRetries?: number | undefined;
  /**
   * Called before a request that failed for a temporary reason is sent again, with the milliseconds
   * that the model has waited.
   */
  readonly onRetry?: ((error: unknown, waited?: number) => void) | undefined;
  /** Called before a request is sent; not again for its retries. The latest request counts. */
  readonly onRequest?: ((request: SentBody) => void) | undefined;
  /**
   * Called with the usage of an answer that the model gives up to ask again, for the ledger of a run
   * that fails later. The usage of the final answer includes it.
   */
  readonly onSpent?: ((usage: Usage) => void) | undefined;
}

/** Provider metadata for telemetry. */
export interface ModelProvider {
  /** A value of OpenTelemetry's `gen_ai.provider.name`, such as `openai`, or one of your own. */
  readonly name: string;
  /** Host of the server. */
  readonly address?: string | undefined;
  readonly port?: number | undefined;
}

/** A chat model. Stateless between runs; may be shared by concurrent requests. */
export interface ChatModel {
  /** Used for options that a prompt does not set. */
  readonly defaultOptions: ChatOptions;
  /** Absent if unknown. */
  readonly provider?: ModelProvider | undefined;
  /** `anywhere`: takes any number of system messages. @default one, as the first message */
  readonly systemMessages?: 'first' | 'anywhere' | undefined;
  /**
   * True if the provider can make answers fit this schema, as the option `responseFormat`; see
   * `OUTPUT_FORMAT`.
   * @default false
   */
  readonly supportsSchema?: ((schema: JsonSchema) => boolean) | undefined;
  /** Requests the complete answer. */
  call(prompt: Prompt, run?: ModelRun): Promise<ChatResponse>;
  /** Emits deltas, then exactly one `response`. Cold; unsubscribing closes the request. */
  stream(prompt: Prompt, run?: ModelRun): Observable<ChatEvent>;
}
