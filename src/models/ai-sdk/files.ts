import type { ContentPart, MediaPart } from '../../core/chat/message.js';
import { InvalidArgumentError } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/internal/options.js';
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

type Media = MediaPart<string> & { readonly name?: string };

/** Content of a user message as parts. */
export function toUserParts(
  content: string | readonly ContentPart[],
  dialect: Dialect,
): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    return part.type === 'raw' ? part.value : toFilePart(part, dialect);
  });
}

/** Content of a tool result as parts; v3 has types of their own for them. */
export function toResultParts(
  content: readonly ContentPart[],
  dialect: Dialect,
): readonly unknown[] {
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type === 'raw') return part.value;
    const { data, ...file } = toFilePart(part, dialect);
    if (dialect.isV4) return { ...file, data };
    const kind = part.type === 'image' ? 'image' : 'file';
    return data instanceof URL
      ? { type: `${kind}-url`, url: data.href }
      : { ...file, type: `${kind}-data`, data: base64(data) };
  });
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

function mediaTypeOf({ type, url = '' }: Media): string {
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
