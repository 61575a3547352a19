import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { Prompt } from '../../core/chat/prompt.js';
import { integer, required, rule, TEXT } from '../../core/internal/options.js';
import type { ResponseFold } from '../http/body-reader.js';
import { connect, jsonBody, type Api } from '../http/connection.js';
import { HTTP_RULES, HttpChatModel, type HttpChatModelOptions } from '../http/http-chat-model.js';
import { checkModelOptions } from '../http/model-options.js';
import type { SendRequest } from '../http/http-request.js';
import { OllamaFold } from './fold.js';
import { toRequestBody, type OllamaFields } from './request.js';

/** Options of an {@link OllamaChatModel}: chat options for every request, and the connection. */
export interface OllamaChatModelOptions extends HttpChatModelOptions {
  /** Name of the model, such as `qwen3:8b`. */
  readonly model: string;
  /**
   * Asks a reasoning model to think, or how much: true, false, `low`, `medium` or `high`.
   * @default the chat option `reasoningEffort`, else decided by the model
   */
  readonly think?: OllamaFields['think'];
  /** Length of the context in tokens, >= 1 (`num_ctx`). @default decided by the server */
  readonly numCtx?: number | undefined;
  /**
   * Time for which the model stays loaded after a request: a duration such as `10m`, or seconds;
   * negative for ever. @default decided by the server: 5 minutes
   */
  readonly keepAlive?: string | number | undefined;
}

/** Name of the class, which begins the messages of errors. */
const NAME = 'OllamaChatModel';
/** Rule for the option `keepAlive`. */
export const KEEP_ALIVE = rule(
  'a duration such as "10m", or seconds',
  (value) => TEXT.accepts(value) || Number.isFinite(value),
);
const RULES = {
  ...HTTP_RULES,
  model: required(TEXT),
  think: rule("true, false, 'low', 'medium' or 'high'", (value) =>
    [true, false, 'low', 'medium', 'high'].includes(value as string | boolean),
  ),
  numCtx: integer(1),
  keepAlive: KEEP_ALIVE,
};

/** The address of an Ollama server, and the key of its cloud. */
export const OLLAMA: Api = {
  baseURL: 'http://127.0.0.1:11434',
  keyVariables: ['OLLAMA_API_KEY'],
  isOpen: true,
  headers: (key) => ({ authorization: key === undefined ? undefined : `Bearer ${key}` }),
};

/** Models of an Ollama server by its own API. May be shared by concurrent requests. */
export class OllamaChatModel extends HttpChatModel {
  readonly systemMessages = 'anywhere';
  private readonly fields: OllamaFields;

  /** @throws {@link InvalidArgumentError} if an option is out of range or there is no model */
  constructor(options: OllamaChatModelOptions) {
    checkModelOptions(NAME, options, RULES);
    const { think, numCtx, keepAlive, ...others } = options;
    super(others, 'ollama', (connection) => connect(NAME, connection, OLLAMA));
    this.fields = { think, numCtx, keepAlive };
  }

  /** True: the server holds answers to any JSON Schema. */
  supportsSchema(): boolean {
    return true;
  }

  protected send(prompt: Prompt, isStream: boolean): SendRequest {
    const options = this.optionsOf(prompt.options);
    const body = jsonBody(() => toRequestBody(prompt, options, this.fields, isStream));
    return this.connection.post(pathUnder(this.connection.baseURL, 'chat'), body);
  }

  protected fold(emit: (event: ChatEvent) => void): ResponseFold {
    return new OllamaFold(emit);
  }
}

/** The path of an operation; addresses with and without `/api` are in use. */
export function pathUnder(baseURL: string, operation: string): string {
  return `${/\/api\/*$/.test(baseURL) ? '' : '/api'}/${operation}`;
}
