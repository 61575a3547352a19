import { canonicalJson, parseJson } from '../chat/json.js';
import type { ToolCall } from '../chat/message.js';

/** A text that is equal for batches of the same calls, whatever the spelling of their arguments. */
export function callsKey(calls: readonly ToolCall[]): string {
  return calls.map((call) => `${call.name} ${canonicalArguments(call.arguments)}`).join('\n');
}

function canonicalArguments(text: string): string {
  try {
    return canonicalJson(parseJson(text));
  } catch {
    return text; // not JSON: equal only to itself
  }
}
