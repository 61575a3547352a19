/** Stems that the rules would get wrong. */
const IRREGULAR = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
]);
const INVARIANT = new Set(['sky', 'news', 'howe', 'atlas', 'cosmos', 'bias', 'andes']);
/** Words whose end is no suffix, once a plural is removed. */
const WHOLE = /^(?:inning|outing|canning|herring|earring|proceed|exceed|succeed)$/;

/** Suffixes and what replaces them, longest first. */
type Replacements = readonly (readonly [suffix: string, replacement: string])[];

const STEP_2 =
  replacements(`ational:ate tional:tion enci:ence anci:ance abli:able entli:ent izer:ize
  ization:ize ation:ate ator:ate alism:al aliti:al alli:al fulness:ful ousli:ous ousness:ous
  iveness:ive iviti:ive biliti:ble bli:ble ogi:og fulli:ful lessli:less li:`);
const STEP_3 = replacements(
  'tional:tion ational:ate alize:al icate:ic iciti:ic ical:ic ful: ness: ative:',
);
const STEP_4 = replacements(
  'al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ism: ate: iti: ous: ive: ize: ion:',
);
/** Letters that must stand before some suffixes. */
const BEFORE = new Map([
  ['ogi', /l$/],
  ['li', /[cdeghkmnrt]$/],
  ['ion', /[st]$/],
]);

const ENGLISH = /^[a-z]{3,40}$/;
const SHORT_SYLLABLE = /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$/;

/**
 * Stem of an English word in lower case by the algorithm Porter2 of the Snowball project (Porter 2001),
 * so that the forms of a word are one term: `oscil` for `oscillate`, `oscillators` and `oscillation`.
 * Other words stay unchanged.
 */
export function englishStem(word: string): string {
  if (!ENGLISH.test(word) || INVARIANT.has(word)) return word;
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return irregular;
  // a y that is a consonant is written Y
  const marked = word.replace(/^y/, 'Y').replace(/([aeiouy])y/g, '$1Y');
  const first = firstRegion(marked);
  const second = regionAfter(marked, first);
  const singular = withoutPlural(marked);
  if (WHOLE.test(singular)) return singular;
  let stem = withoutVerbEnding(singular, first).replace(/(?<=.[^aeiouy])[yY]$/, 'i');
  stem = replaceSuffix(stem, STEP_2, () => first);
  stem = replaceSuffix(stem, STEP_3, (suffix) => (suffix === 'ative' ? second : first));
  stem = replaceSuffix(stem, STEP_4, () => second);
  return withoutFinalLetter(stem, first, second).toLowerCase();
}

function replacements(pairs: string): Replacements {
  return pairs
    .split(/\s+/)
    .map((pair) => pair.split(':') as [string, string])
    .sort(([one], [other]) => other.length - one.length);
}

/** Start of the part in which suffixes are replaced. */
function firstRegion(word: string): number {
  return /^(?:gener|commun|arsen)/.exec(word)?.[0].length ?? regionAfter(word, 0);
}

/** Position behind the first consonant that follows a vowel. */
function regionAfter(word: string, start: number): number {
  const found = /[aeiouy][^aeiouy]/.exec(word.slice(start));
  return found ? start + found.index + 2 : word.length;
}

function withoutPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2);
  if (/ie[ds]$/.test(word)) return word.slice(0, word.length > 4 ? -2 : -1);
  return /[aeiouy].*[^us]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutVerbEnding(word: string, first: number): string {
  const [complete] = /eed(?:ly)?$/.exec(word) ?? [];
  if (complete !== undefined)
    return word.length - complete.length >= first ? `${word.slice(0, -complete.length)}ee` : word;
  const [ending] = /(?:ed|ing)(?:ly)?$/.exec(word) ?? [];
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  if (!/[aeiouy]/.test(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([bdfgmnprt])\1$/.test(stem)) return stem.slice(0, -1);
  return stem.length <= first && SHORT_SYLLABLE.test(stem) ? `${stem}e` : stem;
}

/** @param regionOf start of the part that must contain the suffix */
function replaceSuffix(
  word: string,
  suffixes: Replacements,
  regionOf: (suffix: string) => number,
): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix));
  if (!found) return word;
  const [suffix, replacement] = found;
  const stem = word.slice(0, -suffix.length);
  const fits = stem.length >= regionOf(suffix) && (BEFORE.get(suffix)?.test(stem) ?? true);
  return fits ? stem + replacement : word;
}

function withoutFinalLetter(word: string, first: number, second: number): string {
  const stem = word.slice(0, -1);
  if (word.endsWith('e'))
    return stem.length >= second || (stem.length >= first && !SHORT_SYLLABLE.test(stem))
      ? stem
      : word;
  return word.endsWith('ll') && stem.length >= second ? stem : word;
}
