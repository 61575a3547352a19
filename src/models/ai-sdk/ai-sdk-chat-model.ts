import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatModel, ModelProvider, ModelRun } from '../../core/chat/chat-model.js';
import { withModelDefaults, type ChatOptions } from '../../core/chat/chat-options.js';
import type { ChatResponse } from '../../core/chat/chat-response.js';
import type { Prompt } from '../../core/chat/prompt.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { memoize } from '../../core/internal/memoize.js';
import {
  hasMethods,
  integer,
  integerOrInfinity,
  isPlainObject,
  oneOf,
  required,
  rule,
  TEXT,
  TIMEOUT,
} from '../../core/internal/options.js';
import { Observable } from '../../core/internal/rxjs.js';
import { describe } from '../../core/errors/describe.js';
import type { HttpChatModelOptions } from '../http/http-chat-model.js';
import { checkModelOptions } from '../http/model-options.js';
import { HttpRequest, type RequestSettings } from '../http/http-request.js';
import { collectSecrets } from '../../core/internal/redact.js';
import { markedPrompt, marksFor } from './cache-marks.js';
import { toCallFields, toPrompt, unsupportedOptions } from './call-options.js';
import type { AiSdkCallOptions, AiSdkLanguageModel } from './language-model.js';
import { PartFold } from './part-fold.js';
import { PartsReader } from './parts-reader.js';
import { sendTo, type Parts } from './parts-source.js';

/** Options of an {@link AiSdkChatModel}: the model, chat options for every request, and limits. */
export interface AiSdkChatModelOptions
  extends
    Omit<ChatOptions, 'model'>,
    Pick<
      HttpChatModelOptions,
      | 'maxRetries'
      | 'timeout'
      | 'firstChunkTimeout'
      | 'idleTimeout'
      | 'totalTimeout'
      | 'providerName'
    > {
  /** A language model of a provider of the AI SDK (specification v3 or v4). */
  readonly model: AiSdkLanguageModel;
  /**
   * Maximum size of an answer, >= 1: one byte for each character of its parts; `Infinity` for none.
   * @default 67_108_864
   */
  readonly maxResponseBytes?: number | undefined;
  /**
   * Sends the schema of `entity(schema)` to the provider (`native`), or describes it in the prompt
   * (`text`). Few providers report that they ignore a schema.
   * @default 'text'
   */
  readonly structuredOutput?: 'native' | 'text' | undefined;
}

const NAME = 'AiSdkChatModel';
const MODEL = rule('a language model of the AI SDK', (model) =>
  hasMethods(model, ['doGenerate', 'doStream']),
);
const RULES = {
  model: required(MODEL),
  maxRetries: integer(0),
  timeout: TIMEOUT,
  firstChunkTimeout: TIMEOUT,
  idleTimeout: TIMEOUT,
  totalTimeout: TIMEOUT,
  maxResponseBytes: integerOrInfinity(1),
  structuredOutput: oneOf('native', 'text'),
  providerName: TEXT,
};

/**
 * A language model of the AI SDK as a chat model: its provider's package makes the requests, with
 * the retries, time limits and cancellation of this library around it. May be shared by concurrent
 * requests.
 */
export class AiSdkChatModel implements ChatModel {
  readonly defaultOptions: ChatOptions;
  readonly provider: ModelProvider;
  private readonly model: AiSdkLanguageModel;
  private readonly isV4: boolean;
  private readonly isNative: boolean;
  private readonly settings: Omit<RequestSettings, 'secrets'>;
  private readonly optionsOf = memoize((options: ChatOptions) => {
    const { modelId, provider } = this.model;
    const merged = withModelDefaults(this.defaultOptions, options);
    return {
      fields: toCallFields(merged, provider, this.isV4),
      warnings: unsupportedOptions(merged, modelId, this.isV4),
      marks: marksFor(provider, merged.promptCache),
    };
  });

  /** @throws {@link InvalidArgumentError} if an option is out of range, or the model has another specification */
  constructor(options: AiSdkChatModelOptions) {
    checkModelOptions(NAME, options, RULES);
    const {
      model,
      maxRetries = 2,
      timeout = 600_000,
      firstChunkTimeout = 120_000,
      idleTimeout = 60_000,
      totalTimeout = 1_800_000,
      maxResponseBytes = 64 * 2 ** 20,
      structuredOutput = 'text',
      providerName,
      ...chatOptions
    } = options;
    checkSpecification(model);
    this.defaultOptions = { ...chatOptions, model: model.modelId };
    this.model = model;
    this.isV4 = model.specificationVersion === 'v4';
    this.isNative = structuredOutput === 'native';
    this.provider = { name: providerName ?? providerOf(model.provider) };
    const limits = { timeout, firstChunkTimeout, idleTimeout, totalTimeout, maxResponseBytes };
    this.settings = { model: model.modelId, maxRetries, ...limits };
  }

  /** See the option `structuredOutput`. */
  supportsSchema(): boolean {
    return this.isNative;
  }

  async call(prompt: Prompt, run: ModelRun = {}): Promise<ChatResponse> {
    const { request, reader } = this.begin(prompt, run, 'call', () => undefined);
    return request.answer(reader);
  }

  stream(prompt: Prompt, run: ModelRun = {}): Observable<ChatEvent> {
    return new Observable((subscriber) => {
      const emit = (event: ChatEvent): void => subscriber.next(event);
      const { request, reader } = this.begin(prompt, run, 'stream', emit);
      void request.stream(reader, subscriber);
      return () => request.close();
    });
  }

  private begin(
    prompt: Prompt,
    run: ModelRun,
    mode: 'call' | 'stream',
    emit: (event: ChatEvent) => void,
  ): { readonly request: HttpRequest<Parts>; readonly reader: PartsReader } {
    const { provider, modelId } = this.model;
    const { fields, warnings } = this.optionsOf(prompt.options);
    const secrets = (): readonly string[] => modelSecrets(this.model, fields['headers']);
    const send = sendTo(this.model, mode, () => this.callOptions(prompt), run.onRequest);
    const fold = new PartFold(provider, warnings, emit);
    return {
      request: new HttpRequest({ ...this.settings, secrets }, run, send),
      reader: new PartsReader(fold, modelId, secrets),
    };
  }

  private async callOptions({ messages, options }: Prompt): Promise<AiSdkCallOptions> {
    const { provider, modelId: name, supportedUrls = {} } = this.model;
    const dialect = { name, isV4: this.isV4, supportedUrls: await supportedUrls };
    const { fields, marks } = this.optionsOf(options);
    return { ...fields, prompt: markedPrompt(toPrompt(messages, provider, dialect), marks) };
  }
}

function checkSpecification({ specificationVersion: version }: AiSdkLanguageModel): void {
  if (version === 'v3' || version === 'v4') return;
  throw new InvalidArgumentError(
    `${NAME}: model must have specification v3 or v4, not ${describe(version)}; ` +
      'update the package of its provider to a version for AI SDK 6 or later',
  );
}

/** Values of `gen_ai.provider.name` in OpenTelemetry for providers with another name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws.bedrock',
  bedrock: 'aws.bedrock',
  vertex: 'gcp.vertex_ai',
  google: 'gcp.gemini',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

/** @param provider such as `google.vertex.chat` or `openai.responses` */
function providerOf(provider: string): string {
  const name = provider.replace(/^google\.(?=vertex)/, '').replace(/\..*$/, '');
  return PROVIDERS[name] ?? name;
}

/**
 * Credentials in the headers of a request and in those that its provider adds, as far as they can be
 * seen.
 */
function modelSecrets(model: AiSdkLanguageModel, own: unknown): readonly string[] {
  const config: unknown = Reflect.get(model, 'config');
  const headers = isPlainObject(config) ? config['headers'] : undefined;
  let sent: unknown;
  try {
    sent = typeof headers === 'function' ? Reflect.apply(headers, config, []) : headers;
  } catch {
    // the key is missing: the request fails, too
  }
  if (sent instanceof Promise) sent.catch(() => undefined); // the request reports its failure
  return collectSecrets([], [own, sent], '');
}
