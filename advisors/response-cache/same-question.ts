import {
  FUNCTION_WORD,
  isDateWord,
  NEGATION_CHARACTERS,
  NEGATION_WORDS,
  NUMBER_CONNECTORS,
  NUMBER_WORDS,
} from './question-words.js';
import { quotesOf, tokensOf, type Token } from './question-tokens.js';

/**
 * Compares two questions whose vectors are near.
 *
 * - `different`: their numbers with units, dates, names, quoted texts or negations differ;
 * - `same`: they differ in typography, politeness, contractions and the like alone;
 * - `unsure`: anything else, such as another word, which may be a synonym or the point.
 */
export function compareQuestions(one: string, other: string): 'same' | 'different' | 'unsure' {
  const [a, b] = [tokensOf(one), tokensOf(other)];
  const facts = [numbersOf, negationsOf, datesOf];
  if (facts.some((factsOf) => !isEqual(factsOf(a), factsOf(b)))) return 'different';
  if (!isEqual(quotesOf(one), quotesOf(other))) return 'different';
  if (!haveEqualNames(a, b) || hasOppositePrefix(a, b)) return 'different';
  if (hasLines(a) || hasLines(b)) return 'unsure';
  return plainWords(a) === plainWords(b) && haveEqualCase(a, b) ? 'same' : 'unsure';
}

const isEqual = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each, at) => each === b[at]);

const DIGIT = /\p{N}/u;
/** Scripts that write no spaces between words. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const HAN_NUMBER = /[〇零一二三四五六七八九十百千万萬億两兩]/u;
const COUNTED = /[\p{N}〇零一二三四五六七八九十百千万萬億两兩]+(?:[.,:/]\p{N}+)*\P{N}?/gu;

/** Numbers, with what they count, in order. */
function numbersOf(tokens: readonly Token[]): readonly string[] {
  return tokens.flatMap(({ word, endsPhrase }, at) => {
    const isUnspaced = UNSPACED.test(word) && (DIGIT.test(word) || HAN_NUMBER.test(word));
    if (isUnspaced) return word.match(COUNTED) ?? [];
    if (NUMBER_WORDS.has(word)) return [word];
    if (!DIGIT.test(word)) return [];
    return [word, ...(endsPhrase ? [] : unitAt(tokens, at + 1))];
  });
}

function unitAt(tokens: readonly Token[], at: number): readonly string[] {
  const { word, endsPhrase } = tokens[at] ?? { word: '', endsPhrase: true };
  if (NUMBER_CONNECTORS.has(word) && !endsPhrase) return unitAt(tokens, at + 1);
  return word === '' || FUNCTION_WORD.has(word) || DIGIT.test(word) ? [] : [word];
}

/** One item for each negation: "without" and "not" may mean the same. */
function negationsOf(tokens: readonly Token[]): readonly string[] {
  return tokens.flatMap(({ word }) => {
    if (NEGATION_WORDS.has(word)) return ['not'];
    return (`${word} `.match(NEGATION_CHARACTERS) ?? []).map(() => 'not');
  });
}

const datesOf = (tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap(({ word }) => (isDateWord(word) ? [word] : []));

/** True if the words that one of the two writes as a name stand in both, in the same order. */
function haveEqualNames(a: readonly Token[], b: readonly Token[]): boolean {
  const names = new Set([...namesOf(a, b), ...namesOf(b, a)]);
  const among = (tokens: readonly Token[]): readonly string[] =>
    tokens.flatMap(({ word }) => (names.has(word) ? [word] : []));
  return isEqual(among(a), among(b));
}

function namesOf(tokens: readonly Token[], others: readonly Token[]): readonly string[] {
  return tokens.flatMap(({ text, word, isFirst }) => {
    if (text === word || text === 'I') return [];
    const isOpening = isFirst && text.slice(1) === word.slice(1);
    // at the beginning, each word has a capital letter; the other question may show which it is
    const isPlain = FUNCTION_WORD.has(word) || others.some((other) => other.text === word);
    return isOpening && isPlain ? [] : [word];
  });
}

const OPPOSITE = /^(?:un|in|im|il|ir|dis|non|mis|anti|de)-?$/;

/** True if a word of one is a word of the other with a prefix that negates it, such as `unlock`. */
function hasOppositePrefix(a: readonly Token[], b: readonly Token[]): boolean {
  const isOpposite = (longer: readonly Token[], shorter: readonly Token[]): boolean => {
    const words = new Set(longer.map(({ word }) => word));
    const known = new Set(shorter.map(({ word }) => word));
    return [...words].some(
      (word) =>
        !known.has(word) &&
        [...known].some(
          (other) =>
            other.length > 2 &&
            word.endsWith(other) &&
            OPPOSITE.test(word.slice(0, word.length - other.length)),
        ),
    );
  };
  return isOpposite(a, b) || isOpposite(b, a);
}

const GREETING =
  /^(?:hello|hi|hey) \| (?=(?:what|which|how|who|where|when|why|is|are|do|does|can|could|would|please|tell) )/;
const OPENING =
  /^(?:please )?(?:(?:can|could|would|will) you (?:please )?tell me |(?:can|could|would|will) you please |i (?:want|would like|need) to know |tell me )?(?:please )?/;
const HOW_TO = /\bhow (?:do i|can i|to) /g;

/** The words and the ends of phrases, which carry the meaning, as one text. */
function plainWords(tokens: readonly Token[]): string {
  const words = tokens.flatMap(({ word, endsPhrase }) => {
    const plain = word === 'an' ? 'a' : word;
    return [...(word === 'the' ? [] : [plain]), ...(endsPhrase ? ['|'] : [])];
  });
  const text = words.join(' ').replace(/ \|$/, '');
  return text.replace(GREETING, '').replace(OPENING, '').replace(HOW_TO, 'how to ');
}

/** Lines may be a program, or a poem. */
const hasLines = (tokens: readonly Token[]): boolean => tokens.some(({ text }) => text === '\n');

/** False if a word has capital letters in one of the two alone: "us" and "US" differ. */
function haveEqualCase(a: readonly Token[], b: readonly Token[]): boolean {
  const [one, other] = [spellingsOf(a), spellingsOf(b)];
  // a word that begins a sentence in one of the two may have one capital letter in the other
  const fits = (spellings: ReadonlyMap<string, string>, [word, text]: [string, string]): boolean =>
    spellings.has(word) ? spellings.get(word) === text : text.slice(1) === word.slice(1);
  return [...one].every((each) => fits(other, each)) && [...other].every((each) => fits(one, each));
}

/** The spelling of words, but for the capital letter that begins a sentence. */
function spellingsOf(tokens: readonly Token[]): ReadonlyMap<string, string> {
  const isFree = ({ text, word, isFirst }: Token): boolean =>
    word === 'i' || (isFirst && text.slice(1) === word.slice(1));
  return new Map(tokens.filter((token) => !isFree(token)).map(({ text, word }) => [word, text]));
}
