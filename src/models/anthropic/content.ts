import type { ContentPart, MediaPart } from '../../core/chat/message.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/internal/options.js';
import { sha256Hex } from '../../core/internal/text.js';
import { base64Of, withContent } from '../../core/chat/media-content.js';

/** Name of the class that begins the messages of errors. */
const NAME = 'AnthropicChatModel';

/** Content as blocks of the API. */
export function toBlocks(content: string | readonly ContentPart[]): readonly JsonObject[] {
  if (typeof content === 'string') return textBlocks(content);
  return content.flatMap((part) => (part.type === 'text' ? textBlocks(part.text) : toBlock(part)));
}

/** A text as a block; none if it is blank, which the API refuses. */
export function textBlocks(text: string): readonly JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** The id of a call, or one made of it if it is of another provider and the API refuses it. */
export function toToolUseId(id = ''): string {
  return /^[a-zA-Z0-9_-]+$/.test(id) ? id : `toolu_${sha256Hex(id).slice(0, 24)}`;
}

type OtherPart = Exclude<ContentPart, { readonly type: 'text' }>;

function toBlock(part: OtherPart): JsonObject {
  switch (part.type) {
    case 'image':
      return { type: 'image', source: toSource(part) };
    case 'file':
      return {
        type: 'document',
        source: toSource(part),
        ...(part.name !== undefined && { title: part.name }),
      };
    case 'audio':
      throw new InvalidArgumentError(
        `${NAME}: this API takes no audio; send a transcript of it as text instead`,
      );
    case 'raw':
      return part.value as JsonObject;
  }
}

/** An address, or content: documents that are texts have a form of their own. */
function toSource(part: MediaPart<string>): JsonObject {
  const media = withContent(part);
  if (media.data === undefined) return { type: 'url', url: part.url };
  const mediaType = media.mediaType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (part.type === 'file' && /^(text\/|application\/json$)/.test(mediaType))
    return { type: 'text', media_type: 'text/plain', data: decodeText(media) };
  return {
    type: 'base64',
    media_type: mediaType === 'image/jpg' ? 'image/jpeg' : mediaType,
    data: base64Of(media, NAME),
  };
}

function decodeText({ data = '' }: MediaPart<string>): string {
  try {
    const bytes =
      typeof data === 'string' ? Uint8Array.from(atob(data), (char) => char.charCodeAt(0)) : data;
    return new TextDecoder().decode(bytes);
  } catch {
    throw new InvalidArgumentError(`${NAME}: the data of a file must be base64 text or bytes`);
  }
}
