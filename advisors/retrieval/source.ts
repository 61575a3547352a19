import type { Document, DocumentMetadata } from '../../src/core/chat/document.js';
import { ContextKey } from '../../src/core/chat/context.js';
import type { ToolMetadata } from '../../src/core/tool/tool.js';
import { isPlainObject } from '../../src/core/internal/options.js';
import { sha256Hex } from '../../src/core/internal/text.js';

/** A document that the model gets. */
export interface Source extends Omit<Document, 'vector'> {
  /**
   * The text by which an answer cites the document, in square brackets. It is made of the content of
   * the document: the same in each turn, and no model can guess one.
   */
  readonly key: string;
}

/** Data of the event `sources`, which precedes the text that is written from them. */
export interface SourcesEvent {
  /** Name of the advisor or the tool that has retrieved them. */
  readonly origin: string;
  /** The documents that the model gets, best first; empty if there are none. */
  readonly documents: readonly Source[];
}

declare module '../../src/core/chat/chat-event.js' {
  interface CustomEvents {
    sources: SourcesEvent;
  }
}

/** The documents of a turn, in the context of its response. */
export const RETRIEVED_DOCUMENTS = new ContextKey<readonly Source[]>('retrieved_documents', []);

/** Metadata that names a document to the model. */
const LABELS = ['title', 'headings', 'page', 'url'] as const;
const MAX_LABEL = 300;

/** The metadata of a document that the model gets with its text. */
export function labelsOf({ metadata = {} }: Pick<Document, 'metadata'>): DocumentMetadata {
  const labels = LABELS.flatMap((name) => {
    const value = metadata[name];
    if (value === undefined || !Object.hasOwn(metadata, name)) return [];
    const isShort = typeof value === 'number' || String(value).length <= MAX_LABEL;
    return isShort ? [[name, value] as const] : [];
  });
  return Object.fromEntries(labels);
}

/** The document without the metadata that the model would get. */
export function withoutLabels(document: Document): Document {
  const kept = Object.entries(document.metadata ?? {}).filter(
    ([name]) => !(LABELS as readonly string[]).includes(name),
  );
  return { ...document, metadata: Object.fromEntries(kept) };
}

/** Hexadecimal digits of a key, unless two documents have the same ones. */
const DIGITS = 7;
/** A text that looks like a key. */
export const KEY = /^s[\da-f]{7,64}$/;

/** The documents with their keys, which differ from each other; of equal documents the first. */
export function toSources(documents: readonly Document[]): readonly Source[] {
  const byKey = new Map<string, Source>();
  const known = new Set<string>();
  for (const { vector: _vector, ...document } of documents) {
    const hash = hashOf(document);
    if (known.has(hash)) continue;
    known.add(hash);
    let length = DIGITS;
    while (byKey.has(`s${hash.slice(0, length)}`)) length++;
    const key = `s${hash.slice(0, length)}`;
    byKey.set(key, { key, ...document });
  }
  return [...byKey.values()];
}

/** Sources of both lists, each once. */
export function mergeSources(
  first: readonly Source[],
  second: readonly Source[],
): readonly Source[] {
  const isKnown = ({ id, text }: Source): boolean =>
    first.some((source) => source.id === id && source.text === text);
  const added = second.filter((source) => !isKnown(source));
  return added.length === 0 ? first : [...first, ...added];
}

const MARK = Symbol.for('advisor-chain.finds-sources');
/** Metadata of a tool whose values are sources; copies of the tool have it, and no data from outside can. */
export const FINDS_SOURCES: ToolMetadata = { [MARK]: true } as ToolMetadata;

/** True for the metadata of a tool with {@link FINDS_SOURCES}. */
export function findsSources(metadata: ToolMetadata): boolean {
  return MARK in metadata;
}

/** True for a value that {@link toSources} has made: the key is the key of the content. */
export function isSource(value: unknown): value is Source {
  if (!isPlainObject(value)) return false;
  const { key, id, text } = value;
  if (typeof key !== 'string' || typeof id !== 'string' || typeof text !== 'string') return false;
  return KEY.test(key) && hashOf({ id, text }).startsWith(key.slice(1));
}

function hashOf({ id, text }: Pick<Document, 'id' | 'text'>): string {
  return sha256Hex(JSON.stringify([id, text]));
}
