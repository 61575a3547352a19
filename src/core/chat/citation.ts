import { nonEmptyString, type JsonObject } from '../internal/options.js';

/** A place in the text of an answer, in UTF-16 units as the methods of strings count. */
export interface CitedPlace {
  /** Offset of the first character. */
  readonly start?: number;
  /** Offset after the last character. */
  readonly end?: number;
}

/** A source of an answer. Fields that the provider did not send are absent. */
export interface Citation extends CitedPlace {
  /** Address of the source. */
  readonly url?: string;
  /** Title or file name of the source. */
  readonly title?: string;
  /** The passage of the source. */
  readonly text?: string;
  /** The document, if it is one of the request. */
  readonly document?: CitedDocument;
  /** The object of the provider; absent if an earlier citation of the same source has it. */
  readonly raw?: JsonObject;
}

/** A document of the request that an answer cites. */
export interface CitedDocument extends CitedPlace {
  /** The text by which the answer cites it. */
  readonly key: string;
  /** Id of the document that was found; of the chunk, if it is one. */
  readonly id: string;
  /** Id of the document that the chunk is of. */
  readonly chunkOf?: string;
  /** Number of the chunk in its document, from 0. */
  readonly chunk?: number;
  readonly page?: number;
}

/** A place as a provider sent it. */
export type ForeignPlace = { readonly [Field in keyof CitedPlace]: unknown };

/**
 * A citation from an object of a provider. All providers have one of these names for a field.
 *
 * @param fields the object in `raw` that has the fields
 */
export function toCitation(
  raw: JsonObject | undefined,
  { start, end }: ForeignPlace = {},
  fields: JsonObject = raw ?? {},
): Citation {
  const url = firstText(fields, 'url', 'uri', 'source');
  const title = firstText(fields, 'title', 'filename', 'document_title');
  const text = firstText(fields, 'cited_text', 'snippet', 'text');
  const hasPlace = isOffset(start) && isOffset(end) && start <= end;
  return {
    ...(url !== undefined && { url }),
    ...(title !== undefined && { title }),
    ...(text !== undefined && { text }),
    ...(hasPlace && { start, end }),
    ...(raw && { raw }),
  };
}

function firstText(fields: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = nonEmptyString(fields[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
