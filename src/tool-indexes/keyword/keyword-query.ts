import { termsOf } from './terms.js';

/** What is looked for. */
export interface KeywordQuery {
  /** Each word once. */
  readonly words: readonly string[];
  /** The words of each sentence, by their place in {@link words}: what is asked for in one breath mostly needs one tool. */
  readonly sentences: readonly (readonly number[])[];
  /** Words that stand together. */
  readonly pairs: readonly (readonly [string, string])[];
}

/** Queries are written by models and users: what is longer than any request is not read. */
const MAX_CHARACTERS = 8_000;
const MAX_WORDS = 200;

const SENTENCE_END = /[.!?;\n](?=\s|$)|[。！？；]/u;

/** Reads a query; one of stop words alone is taken by its word. It may have no words. */
export function readQuery(query: string): KeywordQuery {
  const texts = query.slice(0, MAX_CHARACTERS).split(SENTENCE_END).map(termsOf);
  const hasWords = texts.some(({ words }) => words.length > 0);
  const places = new Map<string, number>();
  const placeOf = (word: string): number => {
    if (!places.has(word) && places.size < MAX_WORDS) places.set(word, places.size);
    return places.get(word) ?? -1;
  };
  const sentences = texts.map(({ words, stopWords, compounds }) => [
    ...new Set([...(hasWords ? words : stopWords), ...compounds].map(placeOf).filter((place) => place >= 0)),
  ]);
  const pairs = texts.flatMap(({ words }) => words.slice(1).map((word, at) => [words[at] as string, word] as const));
  return { words: [...places.keys()], sentences: sentences.filter((words) => words.length > 0), pairs };
}
