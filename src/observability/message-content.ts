import { textOf, type ContentPart, type Message, type ToolCall } from '../chat/message.js';
import { SaidText, type Entry } from './json-entry.js';

type Redacted = (text: string, saidAs: 'message' | 'tool-arguments' | 'tool-result') => string;

/**
 * A message as the GenAI conventions have it: a role and parts. Media are told of, not recorded.
 * @param maxParts how many parts there is room for
 */
export function messageContent(message: Message, redacted: Redacted, maxParts: number): Entry {
  const { role } = message;
  switch (message.role) {
    case 'system':
      return { role, parts: [{ type: 'text', content: new SaidText(redacted(message.text, 'message')) }] };
    case 'user':
      return { role, parts: partsOf(message.content, redacted, maxParts) };
    case 'assistant': {
      const { reasoning, text, refusal, toolCalls } = message;
      return {
        role,
        parts: [
          ...(reasoning ? [{ type: 'reasoning', content: new SaidText(redacted(reasoning, 'message')) }] : []),
          ...[text, refusal].flatMap((said) => (said ? [{ type: 'text', content: new SaidText(redacted(said, 'message')) }] : [])),
          ...toolCalls.slice(0, maxParts).map((call) => callPart(call, redacted)),
        ],
      };
    }
    case 'tool': {
      const response = new SaidText(redacted(textOf(message.content), 'tool-result'), true);
      return { role, parts: [{ type: 'tool_call_response', id: idOf(message.toolCallId), response }] };
    }
  }
}

/** The name is the model's: there need not be such a tool. */
function callPart({ id, name, arguments: args }: ToolCall, redacted: Redacted): Entry {
  const shown = { name: new SaidText(redacted(name, 'tool-arguments')), arguments: new SaidText(redacted(args, 'tool-arguments'), true) };
  return { type: 'tool_call', id: idOf(id), ...shown };
}

function idOf(id: string | undefined): SaidText | undefined {
  return id === undefined ? undefined : new SaidText(id);
}

function partsOf(content: string | readonly ContentPart[], redacted: Redacted, maxParts: number): Entry[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content.slice(0, maxParts);
  return parts.map((part) => {
    switch (part.type) {
      case 'text':
        return { type: 'text', content: new SaidText(redacted(part.text, 'message')) };
      case 'raw':
        return { type: 'raw' };
      default:
        return mediaPart(part, redacted);
    }
  });
}

function mediaPart(part: Exclude<ContentPart, { type: 'text' | 'raw' }>, redacted: Redacted): Entry {
  const { type: modality, url, data, mediaType } = part;
  const kind = { modality, ...(mediaType !== undefined && { mime_type: new SaidText(mediaType) }) };
  if (data === undefined && url !== undefined && !url.startsWith('data:'))
    return { type: 'uri', ...kind, uri: new SaidText(redacted(url, 'message')) };
  return { type: 'media', ...kind, size: (data ?? url ?? '').length };
}
