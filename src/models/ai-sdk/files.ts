import type { ContentPart, MediaPart } from '../../core/chat/message.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import { isPlainObject, nonEmptyString, type JsonObject } from '../../core/internal/options.js';
import { base64Of } from '../../core/chat/media-content.js';
import type { SupportedUrls } from './language-model.js';

/** The form of a request, by what its model takes. */
export interface Dialect {
  /** Name of the model for errors. */
  readonly name: string;
  /** True for specification v4, which has another form of files. */
  readonly isV4: boolean;
  readonly supportedUrls: SupportedUrls;
}

export type Media = MediaPart<string> & { readonly name?: string };

/** Types of parts of a user message. */
export const USER_PARTS: readonly unknown[] = ['text', 'image', 'file'];
/** Parts of results that the provider alone understands. */
export const RAW_PARTS: readonly unknown[] = [
  'file',
  'file-id',
  'file-reference',
  'image-file-id',
  'image-file-reference',
  'custom',
];
/** Types of parts of results, in all versions. */
export const RESULT_PARTS: readonly unknown[] = [
  'text',
  'media',
  'file-data',
  'file-url',
  'image-data',
  'image-url',
  ...RAW_PARTS,
];

type Source = { readonly url: string } | { readonly data: string | Uint8Array };

/** The medium of a part, in all forms of the AI SDK; undefined for a reference to a file of the provider. */
export function toMedia(
  part: JsonObject,
): Exclude<ContentPart, { type: 'text' | 'raw' }> | undefined {
  const { type, mediaType, filename } = part;
  const source = sourceOf(part['image'] ?? part['data'] ?? part['url']);
  if (!source) return undefined;
  const isImage = typeof type === 'string' && type.startsWith('image');
  const media = nonEmptyString(mediaType) ?? (isImage ? 'image/*' : undefined);
  const kind = /^(image|audio)(?=\/)/.exec(media?.toLowerCase() ?? '')?.[0] as
    'image' | 'audio' | undefined;
  // the address has the type
  const isOpen = 'url' in source && media === `${kind}/*`;
  const fields = { ...source, ...(media !== undefined && !isOpen && { mediaType: media }) };
  const name = nonEmptyString(filename);
  return kind ? { type: kind, ...fields } : { type: 'file', ...fields, ...(name && { name }) };
}

/** Content or address of a file; undefined for another value. */
export function sourceOf(value: unknown): Source | undefined {
  if (value instanceof URL) return { url: value.href };
  if (value instanceof Uint8Array) return { data: value };
  if (value instanceof ArrayBuffer) return { data: new Uint8Array(value) };
  if (typeof value === 'string')
    return /^[a-z][a-z0-9+.-]*:/i.test(value) ? { url: value } : { data: value };
  if (!isPlainObject(value)) return undefined;
  const { type, data, url, text } = value;
  if (type === 'text' && typeof text === 'string') return { data: new TextEncoder().encode(text) };
  return type === 'data' || type === 'url' ? sourceOf(data ?? url) : undefined;
}

/** A part of a tool result; v3 has types of their own for files. */
export function toResultFile(part: Media, dialect: Dialect): JsonObject {
  const { data, ...file } = toFilePart(part, dialect);
  if (dialect.isV4) return { ...file, data };
  const kind = part.type === 'image' ? 'image' : 'file';
  return data instanceof URL
    ? { type: `${kind}-url`, url: data.href }
    : { ...file, type: `${kind}-data`, data: base64(data) };
}

/**
 * A file in the form of the AI SDK.
 * @throws {@link InvalidArgumentError} if the model does not fetch the address
 */
export function toFilePart(part: Media, { isV4, ...dialect }: Dialect): JsonObject {
  const { data, mediaType, url } = fileContent(part, dialect);
  const content = url ?? data;
  const tagged = url ? { type: 'url', url } : { type: 'data', data };
  return {
    type: 'file',
    mediaType,
    ...(part.name !== undefined && { filename: part.name }),
    data: isV4 ? tagged : content,
  };
}

interface FileContent {
  readonly mediaType: string;
  readonly data?: string | Uint8Array | undefined;
  readonly url?: URL | undefined;
}

function fileContent(part: Media, { name, supportedUrls }: Omit<Dialect, 'isV4'>): FileContent {
  const { data, url = '' } = part;
  const mediaType = part.mediaType ?? mediaTypeOf(part);
  if (data !== undefined) return { data, mediaType };
  const inline = /^data:([^;,]+)[^,]*;base64,/i.exec(url);
  if (inline) return { data: url.slice(inline[0].length), mediaType: inline[1] ?? mediaType };
  if (URL.canParse(url) && isSupported(url, mediaType, supportedUrls))
    return { url: new URL(url), mediaType };
  throw new InvalidArgumentError(
    `AiSdkChatModel: ${name} does not fetch ${part.type} parts (${mediaType}) from this address; ` +
      'give `data` and `mediaType` instead of `url`',
  );
}

/** The media type of a file without one, by its kind and address. */
export function mediaTypeOf({ type, url = '' }: Media): string {
  if (type !== 'file') return `${type}/*`;
  return /\.pdf($|[?#])/i.test(url) ? 'application/pdf' : 'application/octet-stream';
}

function isSupported(url: string, mediaType: string, supported: SupportedUrls): boolean {
  return Object.entries(supported).some(
    ([type, patterns]) =>
      mediaType.toLowerCase().startsWith(type.toLowerCase().replace(/\*.*$/, '')) &&
      patterns.some((pattern) => new RegExp(pattern.source, pattern.flags).test(url)),
  );
}

/** Content as base64. */
export function base64(data: unknown): string {
  return base64Of({ type: 'file', data: data as string | Uint8Array }, 'AiSdkChatModel');
}
