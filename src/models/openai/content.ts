import type { ContentPart, MediaPart } from '../../core/chat/message.js';
import { addressOf, subtypeOf } from '../http/media.js';
import { base64Of } from '../../core/chat/media-content.js';

/** Name of the class that begins the messages of errors. */
const NAME = 'OpenAIChatModel';

/** Content in the form of the API: a text or a list of parts. */
export function toContent(content: string | readonly ContentPart[]): unknown {
  return typeof content === 'string' ? content : content.map(toPart);
}

function toPart(part: ContentPart): unknown {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: addressOf(part, NAME) } };
    case 'audio':
      return {
        type: 'input_audio',
        input_audio: { data: base64Of(part, NAME), format: audioFormat(part) },
      };
    case 'file':
      return {
        type: 'file',
        file: {
          filename: part.name ?? `file.${subtypeOf(part)}`,
          file_data: addressOf(part, NAME),
        },
      };
    case 'raw':
      return part.value;
  }
}

/** The name of an audio format in this API. */
export function audioFormat(part: MediaPart<string>): string {
  const subtype = subtypeOf(part);
  return { mpeg: 'mp3', wave: 'wav', 'vnd.wave': 'wav' }[subtype] ?? subtype;
}
