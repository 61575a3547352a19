import type { CitedPlace } from '../../core/chat/citation.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { listOf } from '../../core/json-schema/json-pointer.js';
import { countOf, objectOf } from '../http/fields.js';

/** A source of an answer, with the segment that it supports, in bytes. */
interface CitedSource {
  readonly fields: JsonObject;
  /** The object of the API; a source that is cited again has it the first time alone. */
  readonly raw: JsonObject | undefined;
  readonly segment: JsonObject;
}

/** The sources in the metadata of a candidate, with their places in its text. */
export function citedSources(
  metadata: JsonObject,
  text: string,
): readonly (Omit<CitedSource, 'segment'> & { readonly place: CitedPlace })[] {
  const { citationSources, citations } = objectOf(metadata['citationMetadata']);
  const recited = listOf(citationSources ?? citations)
    .filter(isPlainObject)
    .map((fields) => ({ fields, raw: fields, segment: fields }));
  const all: readonly CitedSource[] = [
    ...groundingOf(objectOf(metadata['groundingMetadata'])),
    ...recited,
  ];
  const toPlace = placesIn(
    text,
    all.map(({ segment }) => segment),
  );
  return all.map(({ fields, raw, segment }) => ({ fields, raw, place: toPlace(segment) }));
}

/** A chunk of grounding once for each segment that it supports, or once without a place. */
function groundingOf(grounding: JsonObject): readonly CitedSource[] {
  const chunks = listOf(grounding['groundingChunks']).filter(isPlainObject);
  const unused = new Set(chunks);
  const cite = (chunk: JsonObject, segment: JsonObject): CitedSource => {
    const fields = Object.values(chunk).find(isPlainObject) ?? {}; // web, retrievedContext, maps
    return { fields, raw: unused.delete(chunk) ? chunk : undefined, segment };
  };
  const cited = listOf(grounding['groundingSupports'])
    .filter(isPlainObject)
    .flatMap(({ segment, groundingChunkIndices: indexes }) =>
      listOf(indexes)
        .map((index) => chunks[Number(index)])
        .filter(isPlainObject)
        .map((chunk) => cite(chunk, objectOf(segment))),
    );
  return [...cited, ...[...unused].map((chunk) => cite(chunk, {}))];
}

/** Reads segments, which count the bytes of the text in UTF-8, in one pass over the text. */
function placesIn(
  text: string,
  segments: readonly JsonObject[],
): (segment: JsonObject) => CitedPlace {
  const bounds = segments.map(boundsOf);
  const units = new Map<number, number>();
  let [at, bytes] = [0, 0];
  for (const wanted of new Set(bounds.flat().toSorted((a, b) => a - b))) {
    while (bytes < wanted && at < text.length) {
      const code = text.codePointAt(at) ?? 0;
      at += code > 0xffff ? 2 : 1;
      bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code <= 0xffff ? 3 : 4;
    }
    units.set(wanted, at);
  }
  return (segment) => {
    const [start = 0, end = 0] = boundsOf(segment).map((bound) => units.get(bound) ?? 0);
    // an answer in several parts counts each part from 0
    const { text: cited = '' } = segment;
    const isHere = typeof cited === 'string' && text.startsWith(cited, start);
    return end > start && isHere ? { start, end } : {};
  };
}

/** A segment at the beginning has no start. */
function boundsOf({ startIndex, endIndex }: JsonObject): readonly [number, number] {
  return [countOf(startIndex) ?? 0, countOf(endIndex) ?? 0];
}
