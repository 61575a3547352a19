import { termsOf, termsOfToken, tokensOf } from '../../texts/terms.js';

/** The words of a query. */
export interface KeywordQuery {
  /** Each word once. */
  readonly words: readonly string[];
  /** Words of each sentence, as indexes of {@link words}: a sentence mostly asks for one tool. */
  readonly sentences: readonly (readonly number[])[];
  /** Neighbouring words. */
  readonly pairs: readonly (readonly [string, string])[];
  /** Its words in their order, with the stop words. */
  readonly sequence: readonly string[];
}

// Bounds for queries of models and users, beyond the length of any request.
const MAX_CHARACTERS = 8_000;
const MAX_WORDS = 200;

const SENTENCE_END = /[.!?;\n](?=\s|$)|[。！？；]/u;

/** Reads a query, which may have no words; stop words count only in a query without other words. */
export function readQuery(query: string): KeywordQuery {
  const texts = query.slice(0, MAX_CHARACTERS).split(SENTENCE_END).map(termsOf);
  const hasWords = texts.some(({ words }) => words.length > 0);
  const terms = texts.map(({ words, stopWords, compounds }) => [
    ...(hasWords ? words : stopWords),
    ...compounds,
  ]);
  const words = [...new Set(terms.flat())].slice(0, MAX_WORDS);
  const indexes = new Map(words.map((word, index) => [word, index]));
  const sentences = terms
    .map((inSentence) => [...new Set(inSentence.flatMap((term) => indexes.get(term) ?? []))])
    .filter((sentence) => sentence.length > 0);
  const pairs = texts.flatMap(({ words }) =>
    words.slice(1).map((word, at) => [words[at] as string, word] as const),
  );
  const sequence = texts.flatMap((text) => text.sequence).slice(0, MAX_WORDS);
  return { words, sentences, pairs, sequence };
}

/** Returns the function that finds words of a query in the form that comes first, in lower case. */
export function writtenWords(query: string): (words: ReadonlySet<string>) => readonly string[] {
  const tokens = [...new Set(tokensOf(query.slice(0, MAX_CHARACTERS)))].map((written) => {
    const { words, stopWords, compounds } = termsOfToken(written);
    return { written: written.toLowerCase(), terms: [...words, ...stopWords, ...compounds] };
  });
  return (words) => {
    const open = new Set(words);
    const isNew = ({ terms }: (typeof tokens)[number]): boolean =>
      terms.filter((term) => open.delete(term)).length > 0;
    return tokens.filter(isNew).map(({ written }) => written);
  };
}
