import { textOf, type ContentPart, type Message, type ToolCall } from '../chat/message.js';

type Redacted = (text: string, saidAs: 'message' | 'tool-arguments' | 'tool-result') => string;

/**
 * A message as the GenAI conventions have it: a role and parts. Media are told of, not recorded.
 * @param maxLength the longest JSON text that is written as the value it stands for
 */
export function messageContent(
  message: Message,
  redacted: Redacted,
  maxLength: number,
): { readonly role: string; readonly parts: object[] } {
  const { role } = message;
  switch (message.role) {
    case 'system':
      return { role, parts: [{ type: 'text', content: redacted(message.text, 'message') }] };
    case 'user':
      return { role, parts: partsOf(message.content, redacted) };
    case 'assistant': {
      const { reasoning, text, refusal, toolCalls } = message;
      return {
        role,
        parts: [
          ...(reasoning ? [{ type: 'reasoning', content: redacted(reasoning, 'message') }] : []),
          ...[text, refusal].flatMap((said) => (said ? [{ type: 'text', content: redacted(said, 'message') }] : [])),
          ...toolCalls.map((call) => callPart(call, redacted, maxLength)),
        ],
      };
    }
    case 'tool': {
      const response = redacted(textOf(message.content), 'tool-result');
      return { role, parts: [{ type: 'tool_call_response', id: message.toolCallId, response: jsonOf(response, maxLength) }] };
    }
  }
}

/** A JSON text as its value, so that it is not written as text within text; any other text, or a long one, as it is. */
export function jsonOf(text: string, maxLength: number): unknown {
  if (text.length > maxLength) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // models write broken JSON, and tools answer in words
  }
}

function callPart({ id, name, arguments: args }: ToolCall, redacted: Redacted, maxLength: number): object {
  return { type: 'tool_call', id, name, arguments: jsonOf(redacted(args, 'tool-arguments'), maxLength) };
}

function partsOf(content: string | readonly ContentPart[], redacted: Redacted): object[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  return parts.map((part) => {
    switch (part.type) {
      case 'text':
        return { type: 'text', content: redacted(part.text, 'message') };
      case 'raw':
        return { type: 'raw' };
      default:
        return mediaPart(part, redacted);
    }
  });
}

function mediaPart(part: Exclude<ContentPart, { type: 'text' | 'raw' }>, redacted: Redacted): object {
  const { type: modality, url, data, mediaType } = part;
  const kind = { modality, ...(mediaType !== undefined && { mime_type: mediaType }) };
  if (data === undefined && url !== undefined && !url.startsWith('data:')) return { type: 'uri', ...kind, uri: redacted(url, 'message') };
  return { type: 'media', ...kind, size: (data ?? url ?? '').length };
}
