import { ChatClientResponse } from '../core/advisor/chat-client-response.js';
import type { ChatEvent } from '../core/chat/chat-event.js';
import type { OfferedTool } from '../core/chat/tool-definition.js';
import type { StreamResult } from '../core/client/stream-result.js';

/**
 * Runs a stream to its end; rejects with its error.
 * @returns all events, and the answer as of `finalResponse()`
 */
export async function collect<T extends OfferedTool>(
  stream: Pick<StreamResult<T>, 'events'>,
): Promise<{ readonly events: readonly ChatEvent<T>[]; readonly response: ChatClientResponse<T> }> {
  const events: ChatEvent<T>[] = [];
  let response: ChatClientResponse<T> | undefined;
  for await (const event of stream.events()) {
    events.push(event);
    if (event.type === 'response') response = ChatClientResponse.of(event);
  }
  return { events, response: response as ChatClientResponse<T> }; // a stream without one has failed
}
