import { valuesIn, type TextValue } from './offline-values.js';
import { isImperative, isStopWord, isVague, stemOf, wordsOf, type Word } from './offline-words.js';

/** A value that a text names, with the words around it. */
export interface Fact extends TextValue {
  /** Stems of the words before it, back to the value or the clause before. */
  readonly before: readonly string[];
  /** Stems of the words right after it, such as a unit. */
  readonly after: readonly string[];
  /** The preposition before it, or ''. */
  readonly preposition: string;
  /** Number of the enumeration (`A, B and C`) that it is a part of; a value that stands alone is its own. */
  readonly group: number;
  /** Whether it only completes the value before it, as `France` in `Paris, France`. */
  readonly isTail: boolean;
  /** Whether it may not be a value at all: a capital letter at the beginning of a sentence, a number in words (`two sides`). */
  readonly isUncertain: boolean;
}

/** Knows the words of the offered tools, which are seldom names. */
export type IsToolWord = (stem: string) => boolean;

const PREPOSITIONS: ReadonlySet<string> = new Set(
  'in at to from for of by with on near around into between until since before after about within over under through via as'.split(' '),
);
const BREAK = /[,;.!?()\n]|\b(?:and|or|but|then|while|also)\b/giu;
const AND = String.raw`(?:,?\s*(?:and|or|&|plus|versus|vs\.?|as well as|followed by)|,|\/)`;
const LINK = String.raw`\s*${AND}\s*(?:(?:also|then|another|both|in|for|of|at|to|from|the|with|on|a|an|one)\s+)*`;
const NEIGHBOURS = new RegExp(`^${LINK}$`, 'iu');
/** The same with a unit between the numbers: `5 metres and 7 metres`. */
const MEASURED = new RegExp(`^\\s*([\\p{L}%°$€£]+)(?:\\s+\\p{L}+)?${LINK}$`, 'iu');

/** The values of a text with what is said about them. */
export function factsOf(text: string, isToolWord: IsToolWord): readonly Fact[] {
  const values = valuesIn(text).flatMap((value) => (value.kind === 'name' ? trimmed(value, text, isToolWord) : [value]));
  return linked(values, text);
}

/** Adds to values what is said about them. */
export function linked(values: readonly TextValue[], text: string): readonly Fact[] {
  const facts: Fact[] = [];
  for (const [at, value] of values.entries()) {
    const last = facts.at(-1);
    const around = surroundings(value, text, last?.end ?? 0, values[at + 1]?.start ?? text.length);
    const isSame = last !== undefined && isEnumerated(last, value, around, text);
    const isTail = last !== undefined && isTailOf(last, value, values[at + 1], values[at + 2], text);
    facts.push({
      ...value,
      ...around,
      ...(isSame && around.before.every((stem) => PREPOSITIONS.has(stem)) && { before: last.before }),
      preposition: isSame && around.preposition === '' ? last.preposition : around.preposition,
      group: isSame ? last.group : value.start,
      isTail,
      isUncertain: isUncertain(value, text),
    });
  }
  return facts;
}

function isUncertain({ kind, text: value, start }: TextValue, text: string): boolean {
  if (kind === 'number') return /^\p{L}/u.test(value);
  return kind === 'name' && isSentenceStart(text, start) && !/[\s\p{N}]|\p{Lu}.*\p{Lu}/u.test(value);
}

/** A name without the words at its ends that belong to the sentence. */
function trimmed(value: TextValue, text: string, isToolWord: IsToolWord): readonly TextValue[] {
  let { start, end } = value;
  const words = value.text.split(/\s+/);
  const isOpening = isSentenceStart(text, start);
  while (words.length > 0 && isNoName(words[0] as string, isOpening && start === value.start, isToolWord)) {
    start += (words.shift() as string).length;
    start += /^\s*/.exec(text.slice(start, end))?.[0].length ?? 0;
  }
  if (words.length === 0 || (words.length === 1 && isOpening && start === value.start && AFTER_VERB.test(text.slice(end)))) return [];
  const name = text.slice(start, end);
  const bare = name.replace(/['’]s?$/, '');
  end = start + bare.length;
  return [{ ...value, text: bare, value: bare, start, end }];
}

function isNoName(word: string, isOpening: boolean, isToolWord: IsToolWord): boolean {
  const bare = word.replace(/['’].*$/, '');
  if (isStopWord(bare) || /^I$/.test(bare)) return bare !== 'US';
  return isOpening && (isImperative(bare) || isVague(stemOf(bare)) || isToolWord(stemOf(bare)));
}

/** `Predict the …`: a capital letter only because it is the first word. */
const AFTER_VERB = /^\s+(?:the|an?|my|me|our|all|any|some|each|how|what|which|if|whether|this|that|these|those|for|from)\b/i;

function isSentenceStart(text: string, at: number): boolean {
  return /(?:^|[.!?:\n]["'”’)]?)[\s"'“‘(]*$/u.test(text.slice(0, at));
}

function surroundings(value: TextValue, text: string, from: number, to: number): Pick<Fact, 'before' | 'after' | 'preposition'> {
  const clause = text.slice(from, value.start);
  const last = [...clause.matchAll(BREAK)].at(-1);
  const before = wordsOf(last ? clause.slice(last.index + last[0].length) : clause).slice(-6);
  const after = wordsOf(/^[^,;.!?()=:\n]*/.exec(text.slice(value.end, to))?.[0] ?? '');
  const stop = after.findIndex((word) => isStopWord(word.text));
  return {
    before: before.map((word) => word.stem),
    after: after.slice(0, stop < 0 ? 2 : Math.min(stop, 2)).map((word) => word.stem),
    preposition: prepositionOf(before),
  };
}

/** The last preposition; `of` only if there is no other (`in the city of Oslo`). */
function prepositionOf(before: readonly Word[]): string {
  const found = before
    .slice(-4)
    .map((word) => word.text.toLowerCase())
    .filter((word) => PREPOSITIONS.has(word));
  return found.findLast((word) => word !== 'of') ?? found.at(-1) ?? '';
}

function isEnumerated(last: Fact, value: TextValue, { preposition, after }: Pick<Fact, 'after' | 'preposition'>, text: string): boolean {
  if (last.kind !== value.kind || (preposition !== '' && preposition !== last.preposition)) return false;
  const between = text.slice(last.end, value.start);
  if (NEIGHBOURS.test(between)) return true;
  const unit = value.kind === 'number' ? MEASURED.exec(between)?.[1] : undefined;
  return unit !== undefined && stemOf(unit) === after[0];
}

/** `Paris, France`: two names, a comma, and no list that goes on, unless it goes on with another such pair. */
function isTailOf(last: Fact, value: TextValue, next: TextValue | undefined, afterNext: TextValue | undefined, text: string): boolean {
  const isComma = (a: TextValue, b: TextValue | undefined): boolean => b?.kind === 'name' && /^,\s*$/.test(text.slice(a.end, b.start));
  if (last.kind !== 'name' || last.isTail || !isComma(last, value)) return false;
  if (/^[A-Z]{2}$/.test(value.text)) return true;
  const goesOn = next?.kind === 'name' && NEIGHBOURS.test(text.slice(value.end, next.start));
  return !goesOn || (!isComma(value, next) && isComma(next, afterNext));
}

/** Runs of lower-case words that may be meant as a value: neither structure nor words of the tool. */
export function phrasesOf(text: string, facts: readonly Fact[], isToolWord: IsToolWord): readonly Fact[] {
  const phrases: TextValue[] = [];
  for (const word of wordsOf(text)) {
    if (isStopWord(word.text) || isToolWord(word.stem) || facts.some((fact) => word.start < fact.end && fact.start < word.end)) continue;
    if (isVague(word.stem) || word.text.length < 2) continue;
    const last = phrases.at(-1);
    if (last && /^[\s-]+$/.test(text.slice(last.end, word.start))) {
      const joined = text.slice(last.start, word.end);
      phrases[phrases.length - 1] = { ...last, text: joined, value: joined, end: word.end };
    } else phrases.push({ kind: 'phrase', text: word.text, value: word.text, start: word.start, end: word.end });
  }
  return linked(phrases, text);
}
