import { canonicalJson, parseJson, type JsonValue } from '../chat/json.js';
import type { ToolCall } from '../chat/message.js';

/**
 * The arguments of a call as a value; a blank text and `null` stand for no arguments.
 * @throws JsonError if the text is not JSON
 */
export function parseArguments(text: string): JsonValue {
  return text.trim() === '' ? {} : (parseJson(text) ?? {});
}

/** A text that is equal for batches of the same calls, whatever the spelling of their arguments. */
export function callsKey(calls: readonly ToolCall[]): string {
  return JSON.stringify(calls.map((call) => [call.name, canonicalArguments(call.arguments)]));
}

function canonicalArguments(text: string): string {
  try {
    // no need for the strict parser here: nothing is done with the value
    return canonicalJson(text.trim() === '' ? {} : ((JSON.parse(text) as JsonValue) ?? {}));
  } catch {
    return text; // not JSON: equal only to itself
  }
}
