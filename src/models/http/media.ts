import type { ContentPart, MediaPart } from '../../chat/message.js';
import { InvalidArgumentError } from '../../errors.js';

/** A part with media: an image, audio or a file. */
export type Media = Extract<ContentPart, MediaPart<string>>;

/**
 * The content of a media part as base64.
 * @param where begins the message of the error
 * @throws {@link InvalidArgumentError} if the part has only an address
 */
export function base64Of({ type, data }: MediaPart<string>, where: string): string {
  if (data === undefined)
    throw new InvalidArgumentError(
      `${where}: ${type} is sent by content; give \`data\` instead of \`url\``,
    );
  if (typeof data === 'string') return data;
  let bytes = '';
  for (const byte of data) bytes += String.fromCharCode(byte);
  return btoa(bytes);
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
