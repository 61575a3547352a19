import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatOptions } from '../../core/chat/chat-options.js';
import type { Prompt } from '../../core/chat/prompt.js';
import type { JsonSchema } from '../../core/chat/tool-definition.js';
import { memoize } from '../../core/internal/memoize.js';
import { required, TEXT } from '../../core/internal/options.js';
import type { ResponseFold } from '../http/body-reader.js';
import { connect, jsonBody, type Api } from '../http/connection.js';
import { HTTP_RULES, HttpChatModel, type HttpChatModelOptions } from '../http/http-chat-model.js';
import { checkModelOptions } from '../http/model-options.js';
import type { SendRequest } from '../http/http-request.js';
import { isEnforceable } from './enforced-schema.js';
import { MessageFold } from './message-fold.js';
import { toOptionFields, toRequestBody } from './request.js';

/** Options of an {@link AnthropicChatModel}: chat options for every request, and the connection. */
export interface AnthropicChatModelOptions extends HttpChatModelOptions {
  /** Name of the model, such as `claude-sonnet-4-5`. */
  readonly model: string;
  /**
   * Maximum number of tokens of the answer, thinking included, >= 1; the API requires one.
   * @default 8192
   */
  readonly maxTokens?: number | undefined;
}

const NAME = 'AnthropicChatModel';

/** The Messages API of Anthropic and of compatible servers. May be shared by concurrent requests. */
export class AnthropicChatModel extends HttpChatModel {
  readonly systemMessages = 'anywhere';
  private readonly path: string;
  // computed once for options that many prompts share
  private readonly optionFields = memoize((options: ChatOptions) =>
    toOptionFields(this.optionsOf(options)),
  );

  /** @throws {@link InvalidArgumentError} if an option is out of range, or there is no model or key */
  constructor(options: AnthropicChatModelOptions) {
    checkModelOptions(NAME, options, { ...HTTP_RULES, model: required(TEXT) });
    const api = apiFor(typeof options.apiKey === 'function');
    super(options, 'anthropic', (connection) => connect(NAME, connection, api));
    this.path = /\/v1\/*$/.test(this.connection.baseURL) ? '/messages' : '/v1/messages';
  }

  /** True if `output_config.format` can enforce the schema. */
  supportsSchema(schema: JsonSchema): boolean {
    return isEnforceable(schema);
  }

  protected send({ messages, options }: Prompt, isStream: boolean): SendRequest {
    const fields = this.optionFields(options);
    const { promptCache } = this.optionsOf(options);
    const toObject = () => toRequestBody(messages, fields, isStream, promptCache);
    return this.connection.post(this.path, jsonBody(toObject));
  }

  protected fold(emit: (event: ChatEvent) => void): ResponseFold {
    return new MessageFold(emit);
  }
}

/** @param hasToken true if a function returns the key: a token of a cloud provider, mostly */
function apiFor(hasToken: boolean): Api {
  const isToken = (key: string): boolean => hasToken && !key.startsWith('sk-ant-api');
  return {
    baseURL: 'https://api.anthropic.com',
    baseURLVariable: 'ANTHROPIC_BASE_URL',
    keyVariables: ['ANTHROPIC_API_KEY'],
    headers: (key) => ({
      'anthropic-version': '2023-06-01',
      ...(key !== undefined &&
        (isToken(key) ? { authorization: `Bearer ${key}` } : { 'x-api-key': key })),
    }),
  };
}
