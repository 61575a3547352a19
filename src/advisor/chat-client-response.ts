import type { ResponseEvent } from '../chat/chat-event.js';
import { ChatResponse, type ChatResponseFields } from '../chat/chat-response.js';
import { AdvisorContext, type ContextKey } from '../chat/context.js';

/** A model's complete answer together with the context it travelled with. */
export class ChatClientResponse extends ChatResponse {
  constructor(
    /** The answer alone. */
    readonly chatResponse: ChatResponse,
    readonly context: AdvisorContext = AdvisorContext.empty,
  ) {
    super(chatResponse);
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
