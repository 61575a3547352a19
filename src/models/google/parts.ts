import type { ContentPart, MediaPart } from '../../chat/message.js';
import type { JsonObject } from '../../internal/options.js';
import { base64Of, withContent } from '../http/media.js';

/** Name of the class that begins the messages of errors. */
const NAME = 'GoogleChatModel';

/** Content as parts of the API; `raw` parts stay. */
export function toParts(content: string | readonly ContentPart[]): unknown[] {
  if (typeof content === 'string') return [{ text: content }];
  return content.map((part) => {
    if (part.type === 'raw') return part.value;
    return part.type === 'text' ? { text: part.text } : toMediaPart(part);
  });
}

/** True for a part that the text of a tool result cannot express. */
export const isNoText = (part: ContentPart): boolean => part.type !== 'text';

/** Media by content or by address: of the Files API, of Cloud Storage, or of the web. */
function toMediaPart(part: MediaPart<string>): JsonObject {
  const media = withContent(part);
  const { mediaType: mimeType, url: fileUri } = media;
  return media.data === undefined
    ? { fileData: { mimeType, fileUri } }
    : { inlineData: { mimeType, data: base64Of(media, NAME) } };
}
