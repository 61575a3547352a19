import type { ToolCall } from '../chat/message.js';
import { JsonError } from '../errors.js';
import { jsonKey, parseJson, type JsonValue } from '../internal/json.js';
import { describe } from '../internal/text.js';

/**
 * The arguments of a call as a value; blank text, `null` and a missing text mean no arguments.
 * @throws {@link JsonError} if the text is not JSON
 */
export function parseArguments(text: string | null | undefined): JsonValue {
  if (typeof (text ?? '') !== 'string')
    throw new JsonError(`they must be the text of a JSON object, not ${describe(text)}`);
  return text?.trim() ? (parseJson(text) ?? {}) : {};
}

/** Compares two batches by their names and arguments as values. */
export function sameCalls(a: readonly ToolCall[], b: readonly ToolCall[]): boolean {
  return a.length === b.length && a.every((call, at) => isSameCall(call, b[at] as ToolCall));
}

export function isSameCall(a: ToolCall, b: ToolCall): boolean {
  if (a.name !== b.name) return false;
  return a.arguments === b.arguments || argumentsKey(a) === argumentsKey(b);
}

/** A text that is equal for equal arguments; of invalid JSON, the text itself. */
export function argumentsKey({ arguments: text }: ToolCall): string {
  try {
    const key = text?.trim() ? jsonKey(text) : '{}';
    return key === 'null' ? '{}' : key;
  } catch {
    return text;
  }
}
