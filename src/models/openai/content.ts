import type { ContentPart, MediaPart, ToolMessage } from '../../chat/message.js';
import { addressOf, base64Of, subtypeOf } from '../http/media.js';

/** Name of the class that begins the messages of errors. */
const NAME = 'OpenAIChatModel';

/** Content in the form of the API: a text or a list of parts. */
export function toContent(content: string | readonly ContentPart[]): unknown {
  return typeof content === 'string' ? content : content.map(toPart);
}

/** The content of a tool result with a placeholder for each media part; `raw` parts stay. */
export function withoutMedia(content: ToolMessage['content']): ToolMessage['content'] {
  if (typeof content === 'string') return content;
  return content.map((part) =>
    isMedia(part)
      ? { type: 'text', text: `[${part.type}: see the message after the results]` }
      : part,
  );
}

/** The media of a tool result, preceded by a text that names the call. */
export function mediaOf({ content, toolName, toolCallId }: ToolMessage): readonly ContentPart[] {
  const media = typeof content === 'string' ? [] : content.filter(isMedia);
  return media.length > 0
    ? [{ type: 'text', text: `From the tool ${toolName} (call ${toolCallId}):` }, ...media]
    : [];
}

const isMedia = (part: ContentPart): boolean => part.type !== 'text' && part.type !== 'raw';

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
