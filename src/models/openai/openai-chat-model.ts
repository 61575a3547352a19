import type { ChatEvent } from '../../chat/chat-event.js';
import type { ChatModel, ModelProvider, ModelRun } from '../../chat/chat-model.js';
import { checkChatOptions, withModelDefaults, type ChatOptions } from '../../chat/chat-options.js';
import type { ChatResponse } from '../../chat/chat-response.js';
import type { Prompt } from '../../chat/prompt.js';
import type { JsonSchema } from '../../chat/tool-definition.js';
import { InvalidArgumentError } from '../../errors.js';
import { memoize } from '../../internal/memoize.js';
import {
  checkOptions,
  integerOrInfinity,
  oneOf,
  type JsonObject,
  TEXT,
  TIMEOUT,
} from '../../internal/options.js';
import { Observable } from '../../internal/rxjs.js';
import { BodyReader, type AnswerLimits } from '../http/body-reader.js';
import { HttpRequest, type RequestSettings } from '../http/http-request.js';
import { providerAt } from '../http/provider-names.js';
import {
  connect,
  CONNECTION_RULES,
  type ConnectionOptions,
  MAX_RESPONSE_BYTES,
  type Post,
} from './client.js';
import { CompletionFold } from './completion-fold.js';
import { toOptionFields, toRequestBody, toRequestText, toStreamFields } from './request.js';
import { isStrictSchema } from './strict-schema.js';

/** Options of an {@link OpenAIChatModel}: chat options for every request, and the connection. */
export interface OpenAIChatModelOptions
  extends Omit<ChatOptions, 'tools' | 'toolContext'>, ConnectionOptions {
  /** Name of the model, such as `gpt-5-mini`; optional only for Azure deployments and alike. */
  readonly model?: string | undefined;
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
  /** Requests usage in streams; false for servers that reject `stream_options`. @default true */
  readonly streamUsage?: boolean | undefined;
  /**
   * Sends the schema of `entity(schema)` as a strict `response_format` (`native`), or describes it
   * in the prompt (`text`). A schema that strict mode cannot express is described too.
   * @default 'native', but 'text' for servers known to ignore or reject it (Anthropic, DeepSeek)
   */
  readonly structuredOutput?: 'native' | 'text' | undefined;
  /**
   * Name of the provider for telemetry; see `ModelProvider`.
   * @default by the host: `openai`, `azure.ai.openai`, `groq` …, else `openai`
   */
  readonly providerName?: string | undefined;
}

const NAME = 'OpenAIChatModel';
const RULES = {
  ...CONNECTION_RULES,
  firstChunkTimeout: TIMEOUT,
  idleTimeout: TIMEOUT,
  totalTimeout: TIMEOUT,
  maxEventBytes: integerOrInfinity(1),
  maxResponseValues: integerOrInfinity(1),
  providerName: TEXT,
  structuredOutput: oneOf('native', 'text'),
};
/** Providers whose compatible servers do not take `response_format` with a schema. */
const TEXT_ONLY: ReadonlySet<string> = new Set(['anthropic', 'deepseek']);

/** Chat completions of OpenAI and of compatible servers. May be shared by concurrent requests. */
export class OpenAIChatModel implements ChatModel {
  readonly defaultOptions: ChatOptions;
  readonly provider: ModelProvider;
  readonly systemMessages = 'anywhere';
  private readonly post: Post;
  private readonly settings: RequestSettings;
  private readonly answerLimits: AnswerLimits;
  private readonly streamUsage: boolean;
  private readonly isNative: boolean;
  // computed once for options that many prompts share
  private readonly callFields = memoize((options: ChatOptions) =>
    toOptionFields(withModelDefaults(this.defaultOptions, options)),
  );
  private readonly streamFields = memoize((options: ChatOptions) =>
    toStreamFields(this.callFields(options), this.streamUsage),
  );

  /** @throws {@link InvalidArgumentError} if an option is out of range or there is no API key */
  constructor(options: OpenAIChatModelOptions) {
    const {
      apiKey,
      baseURL,
      client,
      maxRetries = 2,
      timeout = 600_000,
      firstChunkTimeout = 120_000,
      idleTimeout = 60_000,
      totalTimeout = 1_800_000,
      maxResponseBytes = MAX_RESPONSE_BYTES,
      maxEventBytes = 16 * 2 ** 20,
      maxResponseValues = 250_000,
      streamUsage = true,
      providerName,
      structuredOutput,
      ...chatOptions
    } = options;
    if (chatOptions.model === undefined && baseURL === undefined && client === undefined)
      throw new InvalidArgumentError(
        `${NAME}: give the name of a model, such as { model: "gpt-5-mini" }`,
      );
    checkChatOptions(chatOptions, NAME);
    checkOptions(NAME, options, RULES);
    const connection = connect(NAME, { apiKey, baseURL, client });
    this.defaultOptions = chatOptions;
    this.provider = providerAt(connection.baseURL, 'openai', providerName);
    this.post = connection.post;
    const { secrets } = connection;
    const { model } = chatOptions;
    const limits = { timeout, firstChunkTimeout, idleTimeout, totalTimeout, maxResponseBytes };
    this.settings = { model, maxRetries, ...limits, secrets };
    this.answerLimits = { maxEventBytes, maxResponseValues };
    this.streamUsage = streamUsage;
    const { name } = providerAt(connection.baseURL, 'openai');
    this.isNative = (structuredOutput ?? (TEXT_ONLY.has(name) ? 'text' : 'native')) === 'native';
  }

  /** True if `response_format` can enforce the schema; see the option `structuredOutput`. */
  supportsSchema(schema: JsonSchema): boolean {
    return this.isNative && isStrictSchema(schema);
  }

  async call(prompt: Prompt, run: ModelRun = {}): Promise<ChatResponse> {
    const request = this.request(prompt, run, this.callFields(prompt.options));
    return request.answer(this.reader(prompt, () => undefined));
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const request = this.request(prompt, run, this.streamFields(prompt.options));
      const reader = this.reader(prompt, (event) => subscriber.next(event));
      void request.stream(reader, subscriber);
      return () => request.close();
    });
  }

  private request(prompt: Prompt, run: ModelRun, fields: JsonObject): HttpRequest {
    const body = {
      toObject: () => toRequestBody(prompt.messages, fields),
      toText: () => toRequestText(prompt, fields),
    };
    return new HttpRequest(this.settings, run, this.post('/chat/completions', body));
  }

  private reader(prompt: Prompt, emit: (event: ChatEvent) => void): BodyReader {
    const fold = new CompletionFold(prompt, emit);
    return new BodyReader(fold, this.settings.secrets, this.answerLimits);
  }
}
