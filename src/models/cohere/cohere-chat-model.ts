import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatOptions } from '../../core/chat/chat-options.js';
import type { Prompt } from '../../core/chat/prompt.js';
import { memoize } from '../../core/internal/memoize.js';
import { required, TEXT } from '../../core/internal/options.js';
import type { ResponseFold } from '../http/body-reader.js';
import { connect, jsonBody, type Api } from '../http/connection.js';
import { HTTP_RULES, HttpChatModel, type HttpChatModelOptions } from '../http/http-chat-model.js';
import { checkModelOptions } from '../http/model-options.js';
import type { SendRequest } from '../http/http-request.js';
import { CohereFold } from './fold.js';
import { toMessages, toOptionFields } from './request.js';

/** Options of a {@link CohereChatModel}: chat options for every request, and the connection. */
export interface CohereChatModelOptions extends HttpChatModelOptions {
  /** Name of the model, such as `command-a-03-2025`. */
  readonly model: string;
}

/** Name of the class, which begins the messages of errors. */
const NAME = 'CohereChatModel';

/** The address and the authentication of Cohere. */
export const COHERE: Api = {
  baseURL: 'https://api.cohere.com',
  keyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
  headers: (key) => ({ authorization: key === undefined ? undefined : `Bearer ${key}` }),
};

/** Models of Cohere by the second version of its chat API. May be shared by concurrent requests. */
export class CohereChatModel extends HttpChatModel {
  readonly systemMessages = 'anywhere';
  // computed once for options that many prompts share
  private readonly optionFields = memoize((options: ChatOptions) =>
    toOptionFields(this.optionsOf(options)),
  );

  /** @throws {@link InvalidArgumentError} if an option is out of range, or there is no model or key */
  constructor(options: CohereChatModelOptions) {
    checkModelOptions(NAME, options, { ...HTTP_RULES, model: required(TEXT) });
    super(options, 'cohere', (connection) => connect(NAME, connection, COHERE));
  }

  /** True for an object at the root, which is all that the API asks for. */
  supportsSchema(schema: { readonly type?: unknown }): boolean {
    return schema.type === 'object';
  }

  protected send({ messages, options }: Prompt, isStream: boolean): SendRequest {
    const body = jsonBody(() => ({
      messages: toMessages(messages),
      ...this.optionFields(options),
      stream: isStream,
    }));
    return this.connection.post(pathUnder(this.connection.baseURL, 'chat'), body);
  }

  protected fold(emit: (event: ChatEvent) => void): ResponseFold {
    return new CohereFold(emit);
  }
}

/** The path of an operation; addresses with and without `/v2` are in use. */
export function pathUnder(baseURL: string, operation: string): string {
  return `${/\/v2\/*$/.test(baseURL) ? '' : '/v2'}/${operation}`;
}
