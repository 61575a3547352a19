import { mediaProblem } from '../../core/chat/media-content.js';
import type { ContentPart, UserMessage } from '../../core/chat/message.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { invalidInput } from '../http/request-input.js';

/** Limits of a message of a client. */
export interface MessageLimits {
  readonly maxCharacters: number;
  readonly mediaTypes: readonly string[];
  readonly maxMediaBytes: number;
}

const MAX_PARTS = 100;
const TYPES = new Map<unknown, 'image' | 'audio' | 'file'>([
  ['image', 'image'],
  ['audio', 'audio'],
  ['video', 'file'],
  ['document', 'file'],
]);

/** The content of a user's message; its other fields are left out. */
export function userMessage({ content }: JsonObject, limits: MessageLimits): UserMessage {
  const { maxCharacters, maxMediaBytes } = limits;
  const isList = Array.isArray(content);
  if (typeof content !== 'string' && !isList)
    throw invalidInput('The content of a message must be a text or an array of parts.');
  if (isList && content.length > MAX_PARTS)
    throw invalidInput(`The message has more than ${MAX_PARTS} parts.`);
  const parts: ContentPart[] = isList
    ? content.map((part: unknown) => partOf(part, limits))
    : [{ type: 'text', text: content }];
  if (parts.every((part) => part.type === 'text' && part.text.trim() === ''))
    throw invalidInput('The message is empty.');
  let characters = 0;
  let bytes = 0;
  for (const part of parts) {
    if (part.type === 'text') characters += part.text.length;
    else if ('data' in part) bytes += ((part.data?.length ?? 0) * 3) / 4;
  }
  if (characters > maxCharacters)
    throw invalidInput(`The text of the message is longer than ${maxCharacters} characters.`);
  if (bytes > maxMediaBytes)
    throw invalidInput(`The media of the message have more than ${maxMediaBytes} bytes.`);
  return { role: 'user', content: isList ? parts : content };
}

function partOf(part: unknown, { mediaTypes }: MessageLimits): ContentPart {
  if (!isPlainObject(part)) throw invalidInput('A part of a message must be an object.');
  const { type, text, source } = part;
  if (type === 'text') {
    if (typeof text === 'string') return { type, text };
    throw invalidInput('The text of a part must be a text.');
  }
  const kind = TYPES.get(type);
  if (!kind) throw invalidInput('The type of a part is not known.');
  if (!isPlainObject(source) || source['type'] !== 'data' || typeof source['value'] !== 'string')
    throw invalidInput('Media are taken as content alone: give a source of the type data.');
  const { mimeType: mediaType, value: data } = source;
  if (typeof mediaType !== 'string' || !mediaTypes.includes(mediaType))
    throw invalidInput('Media of this type are not taken.');
  const media = { type: kind, data, mediaType };
  if (mediaProblem(media) !== undefined)
    throw invalidInput('The media of a part are not base64, or not of their type.');
  return media;
}
