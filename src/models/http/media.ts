import type { ContentPart, MediaPart, Message, ToolMessage } from '../../core/chat/message.js';
import { base64Of } from '../../core/chat/media-content.js';

/** The address of a media part: its own, or its content as a data URL. */
export function addressOf(part: MediaPart<string>, where: string): string | undefined {
  return part.data === undefined
    ? part.url
    : `data:${part.mediaType};base64,${base64Of(part, where)}`;
}

/** The second part of a media type, such as `png`; `bin` if it is not known. */
export function subtypeOf({ mediaType = '' }: MediaPart<string>): string {
  return (mediaType.split(/[/;]/)[1] ?? 'bin').replace(/^x-/, '');
}

/** Messages for an API whose results are texts: their media follow the batch in a user message. */
export function mediaAfterResults(messages: readonly Message[]): readonly Message[] {
  if (!messages.some((message) => message.role === 'tool' && hasMedia(message))) return messages;
  const media: ContentPart[] = [];
  return messages.flatMap<Message>((message, at) => {
    if (message.role !== 'tool') return [message];
    media.push(...mediaOf(message));
    const result = { ...message, content: withoutMedia(message.content) };
    if (media.length === 0 || messages[at + 1]?.role === 'tool') return [result];
    return [result, { role: 'user', content: media.splice(0) }];
  });
}

function hasMedia({ content }: ToolMessage): boolean {
  return typeof content !== 'string' && content.some(isMedia);
}

/** The media of a tool result, preceded by a text that names the call. */
function mediaOf({ content, toolName, toolCallId }: ToolMessage): readonly ContentPart[] {
  const media = typeof content === 'string' ? [] : content.filter(isMedia);
  const text = `From the tool ${toolName} (call ${toolCallId}):`;
  return media.length > 0 ? [{ type: 'text', text }, ...media] : [];
}

/** The content of a tool result with a placeholder for each media part; `raw` parts stay. */
function withoutMedia(content: ToolMessage['content']): ToolMessage['content'] {
  if (typeof content === 'string') return content;
  return content.map((part) =>
    isMedia(part)
      ? { type: 'text', text: `[${part.type}: see the message after the results]` }
      : part,
  );
}

function isMedia({ type }: ContentPart): boolean {
  return type !== 'text' && type !== 'raw';
}
