import type { AssistantMessage, Metadata } from '../../chat/message.js';
import { isPlainObject, type JsonObject } from '../../internal/options.js';
import { listOf } from '../../json-schema/json-pointer.js';

/** Key of the provider's fields in the metadata of messages and calls. */
const KEY = 'google';

/**
 * The parts of an answer in its metadata, in order: a part in the form of the API, or the id of a
 * tool call as `{ toolCallId }`. A call keeps its own fields, its signature among them.
 */
export function partsOf({ metadata }: AssistantMessage): readonly JsonObject[] {
  return listOf(fieldsOf(metadata)['parts']).filter(isPlainObject);
}

/** The fields of the provider in the metadata of a message or of a call. */
export function fieldsOf(metadata: Metadata | undefined): JsonObject {
  const fields = metadata?.[KEY];
  return isPlainObject(fields) ? fields : {};
}

/** Metadata with fields of the provider; an empty object if there are none. */
export function toMetadata(fields: JsonObject): { readonly metadata?: Metadata } {
  return Object.keys(fields).length > 0 ? { metadata: { [KEY]: fields } } : {};
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
  return Object.keys(part).length === 1 && ('text' in part || 'toolCallId' in part);
}
