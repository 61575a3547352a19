import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatOptions } from '../../core/chat/chat-options.js';
import type { Prompt } from '../../core/chat/prompt.js';
import type { JsonSchema } from '../../core/chat/tool-definition.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { memoize } from '../../core/internal/memoize.js';
import { BOOLEAN, CHECKED_APART, oneOf, type JsonObject } from '../../core/internal/options.js';
import type { ResponseFold } from '../http/body-reader.js';
import { HTTP_RULES, HttpChatModel, type HttpChatModelOptions } from '../http/http-chat-model.js';
import { checkModelOptions } from '../http/model-options.js';
import type { SendRequest } from '../http/http-request.js';
import { connectToOpenAI, type OpenAIConnectionOptions } from './client.js';
import { CompletionFold } from './completion-fold.js';
import {
  presetOf,
  takesSchema,
  type PresetName,
  type ProviderPreset,
  type StructuredOutputOption,
} from './provider-preset.js';
import { toOptionFields, toRequestBody, toRequestText, toStreamFields } from './request.js';
import { isStrictSchema } from './strict-schema.js';

/** Options of an {@link OpenAIChatModel}: chat options for every request, and the connection. */
export interface OpenAIChatModelOptions
  extends HttpChatModelOptions, OpenAIConnectionOptions, StructuredOutputOption {
  /** Name of the model, such as `gpt-5-mini`; optional only for Azure deployments and alike. */
  readonly model?: string | undefined;
  /**
   * Form of requests: `mistral` has call ids of nine letters and digits and
   * the names of Mistral's fields.
   * @default 'mistral' for `api.mistral.ai`, else 'openai'
   */
  readonly provider?: PresetName | undefined;
  /**
   * Requests usage in streams; false for servers that reject `stream_options`.
   * @default true, but false for Mistral
   */
  readonly streamUsage?: boolean | undefined;
}

const NAME = 'OpenAIChatModel';
const RULES = {
  ...HTTP_RULES,
  client: CHECKED_APART,
  structuredOutput: oneOf('native', 'text'),
  provider: oneOf('openai', 'mistral'),
  streamUsage: BOOLEAN,
};

/** Chat completions of OpenAI and of compatible servers. May be shared by concurrent requests. */
export class OpenAIChatModel extends HttpChatModel {
  readonly systemMessages = 'anywhere';
  private readonly isNative: boolean;
  private readonly preset: ProviderPreset;
  // computed once for options that many prompts share
  private readonly callFields = memoize((options: ChatOptions) =>
    toOptionFields(this.preset.toOptions(this.optionsOf(options))),
  );
  private readonly streamFields: (options: ChatOptions) => JsonObject;

  /** @throws {@link InvalidArgumentError} if an option is out of range or there is no API key */
  constructor(options: OpenAIChatModelOptions) {
    checkModelOptions(NAME, options, RULES);
    const { client, provider, streamUsage, structuredOutput, ...others } = options;
    if (others.model === undefined && others.baseURL === undefined && client === undefined)
      throw new InvalidArgumentError(
        `${NAME}: give the name of a model, such as { model: "gpt-5-mini" }`,
      );
    super(others, 'openai', (connection) => connectToOpenAI(NAME, { ...connection, client }));
    this.preset = presetOf(this.connection.baseURL, provider);
    const withUsage = streamUsage ?? this.preset.streamUsage;
    this.streamFields = memoize((fields) => toStreamFields(this.callFields(fields), withUsage));
    this.isNative = takesSchema(this.connection.baseURL, { structuredOutput });
  }

  /** True if `response_format` can enforce the schema; see the option `structuredOutput`. */
  supportsSchema(schema: JsonSchema): boolean {
    return this.isNative && isStrictSchema(schema);
  }

  protected send(prompt: Prompt, isStream: boolean): SendRequest {
    const fields = isStream ? this.streamFields(prompt.options) : this.callFields(prompt.options);
    const { toMessage, append } = this.preset;
    return this.connection.post('/chat/completions', {
      toObject: () => toRequestBody(prompt.messages.map(toMessage), fields),
      toText: () => toRequestText(prompt, fields, append),
    });
  }

  protected fold(emit: (event: ChatEvent) => void): ResponseFold {
    return new CompletionFold(emit);
  }
}
