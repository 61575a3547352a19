import { withContent } from './message-codec.js';
import { ChatResponse, type ChatResponseFields } from './chat-response.js';
import type { JsonValue } from '../internal/json.js';
import { toJson } from '../internal/json-data.js';

/**
 * Encodes all of a response: every generation with its citations and metadata, usage and rate limit.
 * @param where the response in error messages
 * @throws {@link DurableTurnError} with the path of a value that is not JSON
 */
export function encodeResponse(response: ChatResponse, where: string): JsonValue {
  const { generations, usage, id, model, rateLimit, metadata } = response;
  const fields: Partial<Record<keyof ChatResponseFields, unknown>> = { generations };
  if (usage) fields.usage = usage;
  if (id !== undefined) fields.id = id;
  if (model !== undefined) fields.model = model;
  if (rateLimit) fields.rateLimit = rateLimit;
  if (metadata) fields.metadata = metadata;
  return toJson(fields, where);
}

export function decodeResponse(encoded: JsonValue): ChatResponse {
  const fields = encoded as unknown as ChatResponseFields;
  const generations = fields.generations.map((generation) => ({
    ...generation,
    message: withContent(generation.message),
  }));
  return new ChatResponse({ ...fields, generations });
}
