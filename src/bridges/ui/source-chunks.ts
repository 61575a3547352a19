import type { Citation } from '../../core/chat/citation.js';
import { isPlainObject } from '../../core/internal/options.js';
import type { UIMessageChunk } from './ui-message-chunk.js';

/** The source of a citation that has an address. */
export function citationChunk({ url, title, document }: Citation): UIMessageChunk | undefined {
  if (url === undefined || !isWebAddress(url)) return undefined;
  const sourceId = document?.key ?? url;
  return { type: 'source-url', sourceId, url, ...(title !== undefined && { title }) };
}

/** The documents of the event `sources`, without their texts. */
export function sourceChunks(data: unknown): readonly UIMessageChunk[] {
  const documents = isPlainObject(data) ? data['documents'] : undefined;
  if (!Array.isArray(documents)) return [];
  return (documents as readonly unknown[]).filter(isPlainObject).map(documentChunk);
}

function documentChunk({ key, id, metadata }: Readonly<Record<string, unknown>>): UIMessageChunk {
  const { title, url } = isPlainObject(metadata) ? metadata : {};
  const sourceId = String(key ?? id);
  const shown = typeof title === 'string' ? title : undefined;
  if (typeof url === 'string' && isWebAddress(url))
    return { type: 'source-url', sourceId, url, ...(shown !== undefined && { title: shown }) };
  return {
    type: 'source-document',
    sourceId,
    mediaType: 'text/plain',
    title: shown ?? String(id),
  };
}

/** A page makes a link of it: no `javascript:` of a document. */
export function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url);
}
