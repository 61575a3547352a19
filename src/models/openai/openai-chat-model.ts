import type OpenAI from 'openai';
import type { ChatEvent } from '../../chat/chat-event.js';
import type { ChatModel, ModelProvider, ModelRun } from '../../chat/chat-model.js';
import { checkOptions, mergeOptions, type ChatOptions } from '../../chat/chat-options.js';
import type { ChatResponse } from '../../chat/chat-response.js';
import { describe } from '../../chat/message.js';
import type { Prompt } from '../../chat/prompt.js';
import { InvalidArgumentError } from '../../errors.js';
import { Observable } from '../../rxjs.js';
import { CompletionRequest, type CompletionSettings } from './completion-request.js';
import { createClient } from './openai-client.js';
import { postDirectly, postThrough } from './post-completion.js';
import { providerAt } from './provider.js';
import { toWireOptions } from './wire.js';
import type { Wire } from './wire-json.js';

/** Options of an {@link OpenAIChatModel}: chat options that hold for every request, and how to reach the server. */
export interface OpenAIChatModelOptions extends Omit<ChatOptions, 'tools' | 'toolContext'> {
  /** Name of the model, such as `gpt-5-mini`; may be left out only where the server knows it (Azure deployments). */
  readonly model?: string | undefined;
  /** @default the environment variable `OPENAI_API_KEY` */
  readonly apiKey?: string | undefined;
  /** Address of an OpenAI-compatible API, such as `http://127.0.0.1:11434/v1`. @default that of OpenAI */
  readonly baseURL?: string | undefined;
  /** A ready client of the `openai` package (Azure, proxies, own headers), in place of `apiKey` and `baseURL`. */
  readonly client?: OpenAI | undefined;
  /** How often a request that failed for a passing reason (429, 5xx, connection) is sent again before its first byte; 0 or more. @default 2 */
  readonly maxRetries?: number | undefined;
  /** Milliseconds for a whole `call`, and for a stream to begin, retries included; `Infinity` for no limit. @default 600_000 */
  readonly timeout?: number | undefined;
  /** Milliseconds from the headers of a stream to its first piece. @default 120_000 */
  readonly firstChunkTimeout?: number | undefined;
  /** Milliseconds between two pieces of a stream. @default 60_000 */
  readonly idleTimeout?: number | undefined;
  /** Whether to ask for usage in streams (`stream_options`); switch it off for servers that refuse it. @default true */
  readonly streamUsage?: boolean | undefined;
  /** Who answers, for those who watch; see `ModelProvider`. @default by the host: `openai`, `azure.ai.openai`, `groq` …, else `openai` */
  readonly providerName?: string | undefined;
}

/** Chat completions of OpenAI and of every server that speaks the same protocol. Keeps no state of a request; may be shared. */
export class OpenAIChatModel implements ChatModel {
  readonly defaultOptions: ChatOptions;
  readonly provider: ModelProvider;
  readonly #settings: CompletionSettings;
  private readonly bodies = new WeakMap<ChatOptions, Wire>();

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
      streamUsage = true,
      providerName,
      ...chatOptions
    } = options;
    if (chatOptions.model === undefined && baseURL === undefined && client === undefined) {
      throw new InvalidArgumentError('OpenAIChatModel: give the name of a model, such as { model: "gpt-5-mini" }');
    }
    checkOptions(chatOptions, 'OpenAIChatModel');
    if (apiKey !== undefined && (typeof apiKey !== 'string' || apiKey.trim() === ''))
      throw new InvalidArgumentError('OpenAIChatModel: apiKey must be a non-blank string');
    if (!Number.isInteger(maxRetries) || maxRetries < 0)
      throw new InvalidArgumentError(`OpenAIChatModel: maxRetries must be an integer of 0 or more, not ${describe(maxRetries)}`);
    for (const [name, value] of Object.entries({ timeout, firstChunkTimeout, idleTimeout })) {
      if (!(value > 0))
        throw new InvalidArgumentError(`OpenAIChatModel: ${name} must be a number of milliseconds above 0, not ${describe(value)}`);
    }
    this.defaultOptions = chatOptions;
    if (providerName !== undefined && (typeof providerName !== 'string' || providerName.trim() === ''))
      throw new InvalidArgumentError('OpenAIChatModel: providerName must be a non-blank string');
    const used = client ?? createClient('OpenAIChatModel', apiKey, baseURL);
    this.provider = providerAt(used.baseURL, providerName);
    const post = client ? postThrough(client) : postDirectly(used);
    this.#settings = { client: used, post, maxRetries, timeout, firstChunkTimeout, idleTimeout, streamUsage };
  }

  async call(prompt: Prompt, run: ModelRun = {}): Promise<ChatResponse> {
    return this.request(prompt, run).call();
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const request = this.request(prompt, run);
      void request.stream(subscriber);
      return () => request.stop();
    });
  }

  private request(prompt: Prompt, run: ModelRun): CompletionRequest {
    return new CompletionRequest(this.#settings, { prompt, options: this.bodyOf(prompt.options), run });
  }

  /** What options add to the body; made once for options that many prompts share. */
  private bodyOf(options: ChatOptions): Wire {
    let body = this.bodies.get(options);
    if (!body) this.bodies.set(options, (body = toWireOptions(mergeOptions(this.defaultOptions, options))));
    return body;
  }
}
