import type { ChatEvent } from '../../core/chat/chat-event.js';
import type { ChatOptions } from '../../core/chat/chat-options.js';
import type { Prompt } from '../../core/chat/prompt.js';
import type { JsonSchema } from '../../core/chat/tool-definition.js';
import { memoize } from '../../core/internal/memoize.js';
import { required, TEXT } from '../../core/internal/options.js';
import type { ResponseFold } from '../http/body-reader.js';
import { jsonBody } from '../http/connection.js';
import { HTTP_RULES, HttpChatModel, type HttpChatModelOptions } from '../http/http-chat-model.js';
import { checkModelOptions } from '../http/model-options.js';
import type { SendRequest } from '../http/http-request.js';
import { connectToGoogle, isVertex, pathOf } from './connection.js';
import { toContents } from './contents.js';
import { GenerateContentFold } from './generate-content-fold.js';
import { isGemini3, toOptionFields } from './request.js';
import { isEnforced } from './schema.js';

/** Options of a {@link GoogleChatModel}: chat options for every request, and the connection. */
export interface GoogleChatModelOptions extends HttpChatModelOptions {
  /** Name of the model, such as `gemini-2.5-flash`, or its path, such as `tunedModels/mine`. */
  readonly model: string;
}

const NAME = 'GoogleChatModel';

/**
 * Models of Google by `generateContent`, of the Gemini API or, with its address as `baseURL`, of
 * Vertex AI. May be shared by concurrent requests.
 */
export class GoogleChatModel extends HttpChatModel {
  // computed once for options that many prompts share
  private readonly optionFields = memoize((options: ChatOptions) =>
    toOptionFields(this.optionsOf(options), isVertex(this.connection.baseURL)),
  );

  /** @throws {@link InvalidArgumentError} if an option is out of range, or there is no model or key */
  constructor(options: GoogleChatModelOptions) {
    checkModelOptions(NAME, options, { ...HTTP_RULES, model: required(TEXT) });
    super(options, 'gcp.gemini', (connection) => connectToGoogle(NAME, connection));
  }

  /** True if the API can enforce the schema: it ignores keywords such as `pattern`. */
  supportsSchema(schema: JsonSchema): boolean {
    return isEnforced(schema);
  }

  protected send(prompt: Prompt, isStream: boolean): SendRequest {
    const { model = '' } = this.optionsOf(prompt.options);
    const method = isStream ? ':streamGenerateContent?alt=sse' : ':generateContent';
    const body = jsonBody(() => ({
      ...toContents(prompt.messages, isGemini3(model)),
      ...this.optionFields(prompt.options),
    }));
    return this.connection.post(pathOf(this.connection, model) + method, body);
  }

  protected fold(emit: (event: ChatEvent) => void): ResponseFold {
    return new GenerateContentFold(emit);
  }
}
