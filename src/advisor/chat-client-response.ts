import type { ResponseEvent } from '../chat/chat-event.js';
import { ChatResponse, type ChatResponseFields } from '../chat/chat-response.js';
import { AdvisorContext, type ContextKey } from '../chat/context.js';
import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';

/** A model's complete answer together with the context it travelled with. */
export class ChatClientResponse extends ChatResponse {
  /** The answer alone. */
  readonly chatResponse: ChatResponse;

  /** @throws {@link InvalidArgumentError} if there is no answer */
  constructor(
    response: ChatResponse,
    readonly context: AdvisorContext = AdvisorContext.empty,
  ) {
    if (typeof response?.hasToolCalls !== 'function')
      throw new InvalidArgumentError(`ChatClientResponse: expected a ChatResponse, not ${describe(response)}`);
    super(response);
    this.chatResponse = 'chatResponse' in response ? (response as ChatClientResponse).chatResponse : response;
  }

  override with(fields: Partial<ChatResponseFields>): ChatClientResponse {
    return new ChatClientResponse(this.chatResponse.with(fields), this.context);
  }

  /** A copy whose context has one more value. */
  withContext<T>(key: ContextKey<T>, value: T): ChatClientResponse {
    return new ChatClientResponse(this.chatResponse, this.context.with(key, value));
  }

  /** The event that ends a run with this response. */
  toEvent(): ResponseEvent {
    return { type: 'response', response: this.chatResponse, context: this.context };
  }
}
