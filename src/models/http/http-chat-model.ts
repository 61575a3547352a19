import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatModel, ModelProvider, ModelRun } from '../../core/chat/chat-model.js';
import { withModelDefaults, type ChatOptions } from '../../core/chat/chat-options.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { Prompt } from '../../core/chat/prompt.js';
import { memoize } from '../../core/internal/memoize.js';
import { CHECKED_APART, integerOrInfinity, TEXT, TIMEOUT } from '../../core/internal/options.js';
import { Observable } from '../../core/internal/rxjs.js';
import { BodyReader, type AnswerLimits, type ResponseFold } from './body-reader.js';
import {
  CONNECTION_RULES,
  MAX_RESPONSE_BYTES,
  type Connection,
  type ConnectionOptions,
} from './connection.js';
import { HttpRequest, type RequestSettings, type SendRequest } from './http-request.js';
import { providerAt } from './provider-names.js';

/** Options of every model on this transport: chat options for each request, and the connection. */
export interface HttpChatModelOptions extends ChatOptions, ConnectionOptions {
  /**
   * Time limit in milliseconds for a whole `call`, and for a stream to begin, retries included;
   * `Infinity` for none.
   * @default 600_000
   */
  readonly timeout?: number | undefined;
  /** Time limit in ms from the headers of a stream to its first piece. @default 120_000 */
  readonly firstChunkTimeout?: number | undefined;
  /** Time limit in milliseconds between two pieces of a stream. @default 60_000 */
  readonly idleTimeout?: number | undefined;
  /**
   * Time limit in milliseconds for a request as a whole, from its start to the end of its answer,
   * whatever keeps it alive; waiting for the consumer of a stream does not count. @default 1_800_000
   */
  readonly totalTimeout?: number | undefined;
  /** Maximum size of one event of a stream in bytes, >= 1; `Infinity` for none. @default 16_777_216 */
  readonly maxEventBytes?: number | undefined;
  /**
   * Maximum number of JSON values in an event of a stream, or in an answer as one document, >= 1;
   * `Infinity` for none. 250,000 take about 100 ms, in which nothing else runs.
   * @default 250_000
   */
  readonly maxResponseValues?: number | undefined;
  /**
   * Name of the provider for telemetry; see `ModelProvider`.
   * @default by the host: `openai`, `azure.ai.openai`, `groq` …, else the name of the wire
   */
  readonly providerName?: string | undefined;
}

/** Rules of the options of every model on this transport that are not sent. */
export const HTTP_RULES = {
  ...CONNECTION_RULES,
  baseURL: CHECKED_APART,
  timeout: TIMEOUT,
  firstChunkTimeout: TIMEOUT,
  idleTimeout: TIMEOUT,
  totalTimeout: TIMEOUT,
  maxEventBytes: integerOrInfinity(1),
  maxResponseValues: integerOrInfinity(1),
  providerName: TEXT,
};

/**
 * A chat model over HTTP. A wire adds the request of a prompt and the fold of its answer; time
 * limits, retries, cancellation, backpressure and errors are the same for all.
 */
export abstract class HttpChatModel<C extends Connection = Connection> implements ChatModel {
  readonly defaultOptions: ChatOptions;
  readonly provider: ModelProvider;
  protected readonly connection: C;
  /** Options of a prompt over the model's defaults: the same object for the same options. */
  protected readonly optionsOf = memoize((options: ChatOptions) =>
    withModelDefaults(this.defaultOptions, options),
  );
  private readonly settings: RequestSettings;
  /** The settings for a prompt, which may name another model. */
  private readonly settingsOf = memoize((options: ChatOptions): RequestSettings => {
    return { ...this.settings, model: this.optionsOf(options).model };
  });
  private readonly answerLimits: AnswerLimits;

  /**
   * @param options checked options of the model; those that only the wire has are left out
   * @param provider name of the provider for hosts that are not known
   * @throws {@link InvalidArgumentError} if there is no API key
   */
  protected constructor(
    options: HttpChatModelOptions,
    provider: string,
    connect: (options: ConnectionOptions) => C,
  ) {
    const {
      apiKey,
      baseURL,
      fetch,
      headers,
      maxRetries = 2,
      timeout = 600_000,
      firstChunkTimeout = 120_000,
      idleTimeout = 60_000,
      totalTimeout = 1_800_000,
      maxResponseBytes = MAX_RESPONSE_BYTES,
      maxEventBytes = 16 * 2 ** 20,
      maxResponseValues = 250_000,
      providerName,
      ...chatOptions
    } = options;
    this.connection = connect({ apiKey, baseURL, fetch, headers });
    this.defaultOptions = chatOptions;
    this.provider = providerAt(this.connection.baseURL, provider, providerName);
    const { secrets } = this.connection;
    const { model } = chatOptions;
    const limits = { timeout, firstChunkTimeout, idleTimeout, totalTimeout, maxResponseBytes };
    this.settings = { model, maxRetries, ...limits, secrets };
    this.answerLimits = { maxEventBytes, maxResponseValues };
  }

  async call(prompt: Prompt, run: ModelRun = {}): Promise<ChatResponse> {
    const settings = this.settingsOf(prompt.options);
    const request = new HttpRequest<Uint8Array>(settings, run, this.send(prompt, false));
    return request.answer(this.reader(prompt, () => undefined));
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const settings = this.settingsOf(prompt.options);
      const request = new HttpRequest<Uint8Array>(settings, run, this.send(prompt, true));
      const reader = this.reader(prompt, (event) => subscriber.next(event));
      void request.stream(reader, subscriber);
      return () => request.close();
    });
  }

  /** The request of a prompt; sent again for each attempt. */
  protected abstract send(prompt: Prompt, isStream: boolean): SendRequest;

  /** The fold of an answer to a prompt. */
  protected abstract fold(emit: (event: ChatEvent) => void, prompt: Prompt): ResponseFold;

  private reader(prompt: Prompt, emit: (event: ChatEvent) => void): BodyReader {
    return new BodyReader(this.fold(emit, prompt), this.settings.secrets, this.answerLimits);
  }
}
