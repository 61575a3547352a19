import type { ChatEvent } from '../../chat/chat-event.js';
import type { ChatModel, ModelProvider, ModelRun } from '../../chat/chat-model.js';
import { checkChatOptions, withModelDefaults, type ChatOptions } from '../../chat/chat-options.js';
import type { ChatResponse } from '../../chat/chat-response.js';
import type { Prompt } from '../../chat/prompt.js';
import { memoize } from '../../internal/memoize.js';
import { checkOptions, integerOrInfinity, TEXT, TIMEOUT } from '../../internal/options.js';
import { Observable } from '../../internal/rxjs.js';
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
export interface HttpChatModelOptions
  extends Omit<ChatOptions, 'tools' | 'toolContext'>, ConnectionOptions {
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
   * @default by the host: `openai`, `azure.ai.openai`, `groq` …, else that of the wire
   */
  readonly providerName?: string | undefined;
}

const RULES = {
  ...CONNECTION_RULES,
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
  /** Options of a prompt with those of the model: the same object for the same options. */
  protected readonly optionsOf = memoize((options: ChatOptions) =>
    withModelDefaults(this.defaultOptions, options),
  );
  private readonly settings: RequestSettings;
  private readonly answerLimits: AnswerLimits;

  /**
   * @param name name of the class, which begins the messages of errors
   * @param options those of the wire alone are left out
   * @param provider name of the provider for hosts that are not known
   * @throws {@link InvalidArgumentError} if an option is out of range or there is no API key
   */
  protected constructor(
    name: string,
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
    checkChatOptions(chatOptions, name);
    checkOptions(name, options, RULES);
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
    const request = new HttpRequest(this.settings, run, this.send(prompt, false));
    return request.answer(this.reader(prompt, () => undefined));
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const request = new HttpRequest(this.settings, run, this.send(prompt, true));
      const reader = this.reader(prompt, (event) => subscriber.next(event));
      void request.stream(reader, subscriber);
      return () => request.close();
    });
  }

  /** The request of a prompt; sent again for each attempt. */
  protected abstract send(prompt: Prompt, isStream: boolean): SendRequest;

  /** The fold of an answer to a prompt. */
  protected abstract fold(prompt: Prompt, emit: (event: ChatEvent) => void): ResponseFold;

  private reader(prompt: Prompt, emit: (event: ChatEvent) => void): BodyReader {
    return new BodyReader(this.fold(prompt, emit), this.settings.secrets, this.answerLimits);
  }
}
