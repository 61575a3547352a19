import { CONVERSATION_ID } from '../chat/context.js';
import { sha256Hex } from '../chat/hash.js';
import { canonicalJson, type JsonValue } from '../chat/json.js';
import type { ToolCall } from '../chat/message.js';
import { parseArguments } from './call-arguments.js';
import type { ToolContextFields } from './tool-context.js';

/**
 * A name for the work of a call, for those who must not do it twice: a hash of the conversation, the turn, the call and its arguments
 * as values, as the model gave them. An advisor that changes the arguments or tries again does not change it.
 */
export function idempotencyKey({ call, advisorContext, turn, calledBefore }: KeyFields): string {
  const conversation = advisorContext.get(CONVERSATION_ID) ?? null;
  return sha256Hex(canonicalJson([conversation, turn.id, call.id, calledBefore(), argumentsOf(call)]));
}

type KeyFields = Pick<ToolContextFields, 'call' | 'advisorContext' | 'turn' | 'calledBefore'>;

function argumentsOf(call: ToolCall): JsonValue {
  try {
    return parseArguments(call.arguments);
  } catch {
    return call.arguments; // no tool runs with them; the key still tells one text from another
  }
}
