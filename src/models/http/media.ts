import type { ContentPart, MediaPart, Message, ToolMessage } from '../../chat/message.js';
import { InvalidArgumentError } from '../../errors.js';

/**
 * The content of a media part as base64.
 * @param where begins the message of the error
 * @throws {@link InvalidArgumentError} if the part has only an address
 */
export function base64Of(part: MediaPart<string>, where: string): string {
  const { type, data } = withContent(part);
  if (data === undefined)
    throw new InvalidArgumentError(
      `${where}: ${type} is sent by content; give \`data\` instead of \`url\``,
    );
  if (typeof data === 'string') return data;
  let bytes = '';
  for (const byte of data) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

/** A part with its content, which may stand in its address: a `data:` URL. */
export function withContent(part: MediaPart<string>): MediaPart<string> {
  const { data, url = '' } = part;
  if (data !== undefined || !url.startsWith('data:')) return part;
  const comma = url.indexOf(',');
  const [type = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  const body = url.slice(comma + 1);
  return {
    type: part.type,
    data: parameters.includes('base64') ? body : new TextEncoder().encode(unescaped(body)),
    mediaType: part.mediaType ?? type,
  };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

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
