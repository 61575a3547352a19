import { base64Of } from '../../core/chat/media-content.js';
import { withContent } from '../../core/chat/message-codec.js';
import type { Content, ContentPart } from '../../core/chat/message.js';
import { isWebAddress } from './source-chunks.js';
import type { UIMessageChunk } from './ui-message-chunk.js';

/** The media in the result of a tool, by content or web address. */
export function fileChunks(content: Content): readonly UIMessageChunk[] {
  return typeof content === 'string' ? [] : content.flatMap(fileChunk);
}

function fileChunk(part: ContentPart): readonly UIMessageChunk[] {
  if (part.type === 'text' || part.type === 'raw') return [];
  const { url, data, mediaType } = withContent(part);
  if (mediaType === undefined) return [];
  if (data !== undefined) {
    const base64 = base64Of(part, 'toUIMessageStream');
    return [{ type: 'file', mediaType, url: `data:${mediaType};base64,${base64}` }];
  }
  return url !== undefined && isWebAddress(url) ? [{ type: 'file', mediaType, url }] : [];
}
