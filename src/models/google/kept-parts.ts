import type { AssistantMessage } from '../../core/chat/message.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import { keptFields } from '../http/fields.js';

/** Key of the provider's fields in the metadata of messages and calls. */
export const KEY = 'google';

/**
 * The parts of an answer in its metadata, in order: a part in the form of the API, or the position
 * of a tool call as `{ toolCall }` (its id as `{ toolCallId }` in stored messages of an older
 * version). A call keeps its own fields, its signature among them.
 */
export function partsOf(message: AssistantMessage): readonly JsonObject[] {
  return listOf(keptFields(message, KEY)['parts']).filter(isPlainObject);
}

/** True for a part that is text of the answer, not of its reasoning. */
export function isText({ text, thought }: JsonObject): boolean {
  return typeof text === 'string' && thought !== true;
}

/** True for a part that is text of the reasoning. */
export function isThought({ text, thought }: JsonObject): boolean {
  return typeof text === 'string' && thought === true;
}

/** True for a part that its message, or its call, expresses completely. */
export function isPlainPart(part: JsonObject): boolean {
  return Object.keys(part).length === 1 && ('text' in part || 'toolCall' in part);
}
