/** The indexed and searched words of a text. */
export interface Terms {
  /** Stems in their order, without stop words. */
  readonly words: readonly string[];
  readonly stopWords: readonly string[];
  /** Stems and stop words in their order. */
  readonly sequence: readonly string[];
  /** Neighbouring parts of an identifier (`GitHub`) joined again (`github`), as stems. */
  readonly compounds: readonly string[];
}

/** Splits a text into terms, in any language. */
export function termsOf(text: string): Terms {
  return join(tokensOf(text).map(termsOfToken));
}

function join(parts: readonly Terms[]): Terms {
  return {
    words: parts.flatMap(({ words }) => words),
    stopWords: parts.flatMap(({ stopWords }) => stopWords),
    sequence: parts.flatMap(({ sequence }) => sequence),
    compounds: parts.flatMap(({ compounds }) => compounds),
  };
}

const ASCII = /^\p{ASCII}*$/u;
const ASCII_TOKEN = /[A-Za-z]+|[0-9]+/g;

/** Scripts without spaces between words, or with particles joined to them: each character is a word. */
export const UNSPACED = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('');

function createUnicodePatterns() {
  return {
    token: /[\p{L}\p{M}]+|\p{N}+/gu,
    script: new RegExp(String.raw`[${UNSPACED}]\p{M}*|[^${UNSPACED}]+`, 'gu'),
    capitalInside: /[^\p{Lu}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u,
    hump: /\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}]+/gu,
  };
}

let patterns: ReturnType<typeof createUnicodePatterns> | undefined;

/** Created on first use: Unicode classes take milliseconds, which every import would pay. */
function unicodePatterns(): ReturnType<typeof createUnicodePatterns> {
  return (patterns ??= createUnicodePatterns());
}

/** Splits a text into runs of letters and runs of digits, without accents. */
export function tokensOf(text: string): readonly string[] {
  return (
    (ASCII.test(text) ? text.match(ASCII_TOKEN) : fold(text).match(unicodePatterns().token)) ?? []
  );
}

/** Removes accents and unifies the forms of Unicode; marks that are letters in a script stay. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]+/gu, '')
    .normalize('NFC');
}

const LOWER_CASE = /^[a-z0-9]+$/;
/** Maximum length of a compound; names such as `GitHub` and `PowerPoint` are not longer. */
const MAX_COMPOUND = 10;

/** Splits a token at its humps and scripts: `getHTTPUrls` into get, http, urls. */
export function termsOfToken(token: string): Terms {
  if (LOWER_CASE.test(token)) return termsOfHumps([token]);
  return join(runsOf(token).map((run) => termsOfHumps(humpsOf(run))));
}

/** Splits a token where its script changes; an unspaced script has a run for each character. */
export function runsOf(token: string): readonly string[] {
  return ASCII.test(token) ? [token] : (token.match(unicodePatterns().script) ?? []);
}

/** The parts of a run in lower case: `getHTTPUrls` has get, http, urls. */
export function humpsOf(run: string): readonly string[] {
  const { capitalInside, hump } = unicodePatterns();
  const humps = capitalInside.test(run) ? (run.match(hump) ?? [run]) : [run];
  return humps.map((each) => each.toLowerCase());
}

function termsOfHumps(humps: readonly string[]): Terms {
  return {
    words: humps.filter((hump) => !STOP_WORDS.has(hump)).map(stem),
    stopWords: humps.filter((hump) => STOP_WORDS.has(hump)),
    sequence: humps.map((hump) => (STOP_WORDS.has(hump) ? hump : stem(hump))),
    compounds: compoundsOf(humps).map(stem),
  };
}

/** Neighbouring parts of an identifier joined again. */
export function compoundsOf(humps: readonly string[]): readonly string[] {
  const pairs = humps.slice(1).map((hump, at) => `${humps[at]}${hump}`);
  return pairs.filter((pair) => pair.length <= MAX_COMPOUND);
}

/** English words without a meaning of their own, including those that phrase a request. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all am an and any are as at be because been before being below
  between both but by can could did do does doing down during each few for from further had has have
  having he her here hers herself him himself his how i if in into is it its itself just me more most
  my myself no nor not now of off on once only or other our ours ourselves out over own same she
  should so some such than that the their theirs them themselves then there these they this those
  through to too under until up upon us very was we were what when where which while who whom why
  will with would you your yours yourself yourselves d ll m re s t ve
  hello hey hi know let like likes need needs please tell thank thanks want wants`.split(/\s+/),
);

/** English suffixes that change the form of a word rather than its meaning, longest first. */
const SUFFIXES: readonly string[] =
  `ational ization isation ication ations ation ators ator ements ement ments ment ances ance ences
  ence ancy ency ities ity ically ical ingly edly ings ing ated ating ate ized izing ize ised ising
  ise ed ers er ors or ions ion ives ive als al ics ic ly e`
    .split(/\s+/)
    .sort((a, b) => b.length - a.length);
/** Minimum number of letters before a suffix. */
const MIN_STEM = 4;

/**
 * Returns the common part of the forms of an English word: `calcul` for `calculate`, `calculator`
 * and `calculation`. Words of other languages mostly stay unchanged.
 */
export function stem(word: string): string {
  const singular = withoutPlural(word);
  const suffix = SUFFIXES.find(
    (one) => singular.length - one.length >= MIN_STEM && singular.endsWith(one),
  );
  const root = suffix === undefined ? singular : singular.slice(0, -suffix.length);
  return withoutFinalY(root.length > 3 && DOUBLED.test(root) ? root.slice(0, -1) : root);
}

const DOUBLED = /([bdfgmnprt])\1$/;
const SIBILANT_PLURAL = /(?:x|ch|sh|ss|zz)es$/;
const PLURAL = /[^sui]s$/;

function withoutPlural(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || word === 'news') return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (SIBILANT_PLURAL.test(word)) return word.slice(0, -2);
  return PLURAL.test(word) ? word.slice(0, -1) : word;
}

/** Unifies `verify` and `verified`, `city` and `cities`. */
function withoutFinalY(word: string): string {
  if (word.length > 4) return word.endsWith('y') || word.endsWith('i') ? word.slice(0, -1) : word;
  return word.length > 2 && word.endsWith('y') ? `${word.slice(0, -1)}i` : word;
}
