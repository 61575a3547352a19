import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../chat/message.js';

const INTERRUPTED = 'Interrupted: this call has no result. It may or may not have been carried out.';

/**
 * A history that every provider takes: after each message with tool calls there is exactly one result for each, in call order. A call
 * without a result gets one that says so, a result without a call is dropped, and so are assistant messages that say nothing.
 * Deterministic; a sound history is returned as the very array it is.
 */
export function repairHistory(messages: readonly Message[]): readonly Message[] {
  const results = resultsByCall(messages);
  const repaired = messages.flatMap((message): readonly Message[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant') return [message];
    if (message.toolCalls.length === 0) return isEmpty(message) ? [] : [message];
    return [message, ...message.toolCalls.map((call) => results.get(call) ?? interrupted(call))];
  });
  const isSound = repaired.length === messages.length && repaired.every((message, at) => message === messages[at]);
  return isSound ? messages : repaired;
}

/** Each result belongs to the nearest call before it that has its id and no result yet. */
function resultsByCall(messages: readonly Message[]): ReadonlyMap<ToolCall, ToolMessage> {
  const results = new Map<ToolCall, ToolMessage>();
  let open: ToolCall[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') open = [...message.toolCalls, ...open];
    if (message.role !== 'tool') continue;
    const at = open.findIndex(({ id }) => id === message.toolCallId);
    if (at < 0) continue;
    results.set(open[at] as ToolCall, message);
    open.splice(at, 1);
  }
  return results;
}

function interrupted({ id, name }: ToolCall): ToolMessage {
  return { role: 'tool', toolCallId: id, toolName: name, content: INTERRUPTED, isError: true };
}

function isEmpty({ text, refusal }: AssistantMessage): boolean {
  return (text ?? '').trim() === '' && !refusal;
}
