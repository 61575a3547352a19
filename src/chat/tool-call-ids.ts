import type { AssistantMessage, Message, ToolCall } from './message.js';

/** A provider that knows no ids sends nothing or one of these. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['', 'null', 'undefined', 'None']);

/** Whether a provider's id names a call. */
export function isCallId(id: string | null | undefined): id is string {
  return typeof id === 'string' && !PLACEHOLDERS.has(id);
}

/**
 * The message with an id for every tool call that no other call of the conversation has: a missing id is made up, a repeated one
 * gets a suffix. Depends on the conversation alone, so that the same turn gives the same ids again.
 */
export function withUniqueCallIds(message: AssistantMessage, conversation: readonly Message[]): AssistantMessage {
  const { toolCalls } = message;
  if (toolCalls.length === 0) return message;
  if (areUnique(toolCalls, conversation)) return message;
  const used = new Set(conversation.flatMap((earlier) => (earlier.role === 'assistant' ? earlier.toolCalls.map((call) => call.id) : [])));
  return { ...message, toolCalls: toolCalls.map((call) => withId(call, uniqueId(call.id, used))) };
}

/** The usual case, decided without building anything: it is asked in every iteration about the whole conversation. */
function areUnique(calls: readonly ToolCall[], conversation: readonly Message[]): boolean {
  const isTaken = (id: string, among: readonly ToolCall[]): boolean => among.some((call) => call.id === id);
  return calls.every(
    ({ id }, at) =>
      isCallId(id) &&
      !isTaken(id, calls.slice(0, at)) &&
      !conversation.some((earlier) => earlier.role === 'assistant' && isTaken(id, earlier.toolCalls)),
  );
}

function withId(call: ToolCall, id: string): ToolCall {
  return id === call.id ? call : { ...call, id };
}

function uniqueId(id: string, used: Set<string>): string {
  const stem = isCallId(id) ? id : 'call';
  let unique = isCallId(id) ? id : `call_${used.size + 1}`;
  for (let n = 2; used.has(unique); n++) unique = `${stem}_${n}`;
  used.add(unique);
  return unique;
}
