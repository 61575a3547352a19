import { base64Of } from '../../core/chat/media-content.js';
import type { Content, ContentPart } from '../../core/chat/message.js';

/** Content of a tool's result as AG-UI has it: a text, or parts. Parts of a provider are left out. */
export function toParts(content: Content): string | readonly object[] {
  return typeof content === 'string' ? content : content.flatMap(toPart);
}

function toPart(part: ContentPart): readonly object[] {
  if (part.type === 'raw') return [];
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  const type = part.type === 'file' ? 'document' : part.type;
  const { url, data, mediaType = 'application/octet-stream' } = part;
  if (data === undefined) return [{ type, source: { type: 'url', value: url ?? '' } }];
  const value = base64Of(part, 'agUI');
  return [{ type, source: { type: 'data', value, mimeType: mediaType } }];
}
