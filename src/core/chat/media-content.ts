import { InvalidArgumentError } from '../errors/errors.js';
import { describe } from '../errors/describe.js';
import type { MediaPart } from './message.js';

/**
 * The content of a media part as base64, in the standard alphabet.
 * @param where begins the message of the error
 * @throws {@link InvalidArgumentError} if the part has only an address
 */
export function base64Of(part: MediaPart<string>, where: string): string {
  const { type, data } = withContent(part);
  if (data === undefined)
    throw new InvalidArgumentError(
      `${where}: ${type} is sent by content; give \`data\` instead of \`url\``,
    );
  // some services write the alphabet of URLs, which most providers refuse
  if (typeof data === 'string') return data.replaceAll('-', '+').replaceAll('_', '/');
  let bytes = '';
  for (const byte of data) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

const TOKEN = String.raw`[\w!#$&^.+*-]+`;
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?: ?; ?${TOKEN}=(?:${TOKEN}|"[ -!#-~]*"))*$`);
const BASE64 = /^(?:[\w-]*|[A-Za-z0-9+/]*)={0,2}$/;
/** Each request checks its history again. */
const checked = new WeakSet<object>();

/**
 * The reason why no provider takes a media part, wherever it comes from: a type that is malformed or
 * of another kind, or content that is neither base64 nor base64url. Undefined if there is none.
 */
export function mediaProblem(part: MediaPart<string>): string | undefined {
  if (checked.has(part)) return undefined;
  const { type, data, mediaType } = withContent(part);
  if (mediaType !== undefined && !isTypeOf(type, mediaType))
    return `has the media type ${describe(mediaType)}, which is not the type of ${type} content`;
  if (typeof data === 'string' && !isBase64(data)) return 'has `data` that is no base64';
  if (Object.isFrozen(part)) checked.add(part);
  return undefined;
}

/** A media part, or a text in its place if no provider takes it. */
export function usableMedia<T extends MediaPart<string>>(
  part: T,
): T | { readonly type: 'text'; readonly text: string } {
  const problem = mediaProblem(part);
  if (problem === undefined) return part;
  return { type: 'text', text: `[${part.type} left out: it ${problem}]` };
}

function isTypeOf(kind: string, mediaType: string): boolean {
  if (!MEDIA_TYPE.test(mediaType)) return false;
  return kind === 'file' || mediaType.toLowerCase().startsWith(`${kind}/`);
}

function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  return BASE64.test(text) && (text.length - padding) % 4 !== 1;
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
