import { ChatResponse, type ChatResponseFields } from '../chat/chat-response.js';
import type { JsonValue } from '../internal/json.js';
import { toJson } from './json-data.js';

/**
 * Encodes all of a response: every generation with its citations and metadata, usage and rate limit.
 * @param where the response in error messages
 * @throws {@link DurableTurnError} with the path of a value that is not JSON
 */
export function encodeResponse(response: ChatResponse, where: string): JsonValue {
  const { generations, usage, id, model, rateLimit, metadata } = response;
  return toJson({ generations, usage, id, model, rateLimit, metadata }, where);
}

export function decodeResponse(encoded: JsonValue): ChatResponse {
  return new ChatResponse(encoded as unknown as ChatResponseFields);
}
