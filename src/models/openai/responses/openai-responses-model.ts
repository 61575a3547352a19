import type { ChatEvent } from '../../../core/chat/chat-event.js';
import type { ChatOptions } from '../../../core/chat/chat-options.js';
import type { Prompt } from '../../../core/chat/prompt.js';
import type { JsonSchema } from '../../../core/chat/tool-definition.js';
import { InvalidArgumentError } from '../../../core/errors/errors.js';
import { memoize } from '../../../core/internal/memoize.js';
import { CHECKED_APART, oneOf, type JsonObject } from '../../../core/internal/options.js';
import type { ResponseFold } from '../../http/body-reader.js';
import {
  HTTP_RULES,
  HttpChatModel,
  type HttpChatModelOptions,
} from '../../http/http-chat-model.js';
import { checkModelOptions } from '../../http/model-options.js';
import type { SendRequest } from '../../http/http-request.js';
import { connectToOpenAI, type OpenAIConnectionOptions } from '../client.js';
import { isStrictSchema } from '../strict-schema.js';
import { takesSchema, type StructuredOutputOption } from '../provider-preset.js';
import { toOptionFields, toRequestBody, toRequestText } from './request.js';
import { ResponsesFold } from './responses-fold.js';

/** Options of an {@link OpenAIResponsesModel}: chat options for every request, and the connection. */
export interface OpenAIResponsesModelOptions
  extends HttpChatModelOptions, OpenAIConnectionOptions, StructuredOutputOption {
  /** Name of the model, such as `gpt-5-mini`; optional only for a `baseURL` or `client` that knows it. */
  readonly model?: string | undefined;
}

const NAME = 'OpenAIResponsesModel';
const RULES = {
  ...HTTP_RULES,
  client: CHECKED_APART,
  structuredOutput: oneOf('native', 'text'),
};

/**
 * The Responses API of OpenAI and of compatible servers. May be shared by concurrent requests: each
 * one sends the whole conversation, whether or not the server stores responses.
 */
export class OpenAIResponsesModel extends HttpChatModel {
  readonly systemMessages = 'anywhere';
  private readonly isNative: boolean;
  // computed once for options that many prompts share
  private readonly callFields = memoize((options: ChatOptions) =>
    toOptionFields(this.optionsOf(options)),
  );
  private readonly streamFields = memoize((fields: JsonObject) => ({ ...fields, stream: true }));

  /** @throws {@link InvalidArgumentError} if an option is out of range or there is no API key */
  constructor(options: OpenAIResponsesModelOptions) {
    checkModelOptions(NAME, options, RULES);
    const { client, structuredOutput, ...others } = options;
    if (others.model === undefined && others.baseURL === undefined && client === undefined)
      throw new InvalidArgumentError(
        `${NAME}: give the name of a model, such as { model: "gpt-5-mini" }`,
      );
    super(others, 'openai', (connection) => connectToOpenAI(NAME, { ...connection, client }));
    this.isNative = takesSchema(this.connection.baseURL, { structuredOutput });
  }

  /** True if `text.format` can enforce the schema; see the option `structuredOutput`. */
  supportsSchema(schema: JsonSchema): boolean {
    return this.isNative && isStrictSchema(schema);
  }

  protected send(prompt: Prompt, isStream: boolean): SendRequest {
    const fields = this.callFields(prompt.options);
    const sent = isStream ? this.streamFields(fields) : fields;
    return this.connection.post('/responses', {
      toObject: () => toRequestBody(prompt.messages, sent),
      toText: () => toRequestText(prompt, sent),
    });
  }

  protected fold(emit: (event: ChatEvent) => void, prompt: Prompt): ResponseFold {
    return new ResponsesFold(emit, this.callFields(prompt.options)['store'] !== false);
  }
}
