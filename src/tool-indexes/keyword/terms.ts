import { stem } from './stem.js';
import { STOP_WORDS } from './stop-words.js';

/** The words of a text as they are indexed and looked for. */
export interface Terms {
  /** In their order, without stop words. */
  readonly words: readonly string[];
  readonly stopWords: readonly string[];
  /** Words that were taken apart (`GitHub`), two by two put together again (`github`). */
  readonly compounds: readonly string[];
}

/** Takes a text apart, in any language. */
export function termsOf(text: string): Terms {
  return join(tokensOf(text).map(partsOf));
}

function join(parts: readonly Terms[]): Terms {
  return {
    words: parts.flatMap(({ words }) => words),
    stopWords: parts.flatMap(({ stopWords }) => stopWords),
    compounds: parts.flatMap(({ compounds }) => compounds),
  };
}

const ASCII = /^\p{ASCII}*$/u;

/** Whether a text is in ASCII. */
export function isPlain(text: string): boolean {
  return ASCII.test(text);
}

const ASCII_TOKEN = /[A-Za-z]+|[0-9]+/g;
const TOKEN = /[\p{L}\p{M}]+|\p{N}+/gu;

/** The runs of letters and of digits in a text, without accents. */
export function tokensOf(text: string): readonly string[] {
  return (ASCII.test(text) ? text.match(ASCII_TOKEN) : fold(text).match(TOKEN)) ?? [];
}

/** Letters without their accents, and one form of what Unicode can write in several. Marks that are letters in other scripts stay. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]+/gu, '')
    .normalize('NFC');
}

/** Scripts that put no spaces between words, or join particles to them: each character is a word. */
const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}`;
const SCRIPTS = new RegExp(String.raw`[${UNSPACED}]\p{M}*|[^${UNSPACED}]+`, 'gu');
const CAPITAL_INSIDE = /[^\p{Lu}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const HUMP = /\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}]+/gu;
/** What people write as one word (`GitHub`, `PowerPoint`) is not long. */
const MAX_COMPOUND = 10;

/** The words of one run: `getHTTPUrls` as get, http, urls. */
export function partsOf(token: string): Terms {
  if (LOWER_CASE.test(token)) return partsOfHumps([token]);
  return isPlain(token) ? partsOfRun(token) : join((token.match(SCRIPTS) ?? []).map(partsOfRun));
}

/** The parts of a run in one script. */
function partsOfRun(run: string): Terms {
  return partsOfHumps(humpsOf(run).map((hump) => hump.toLowerCase()));
}

const LOWER_CASE = /^[a-z0-9]+$/;

function humpsOf(word: string): readonly string[] {
  return CAPITAL_INSIDE.test(word) ? (word.match(HUMP) ?? [word]) : [word];
}

function partsOfHumps(humps: readonly string[]): Terms {
  const words: string[] = [];
  const stopWords: string[] = [];
  for (const hump of humps) {
    if (STOP_WORDS.has(hump)) stopWords.push(hump);
    else words.push(stem(hump));
  }
  const compounds: string[] = [];
  for (let at = 1; at < humps.length; at++) {
    const compound = `${humps[at - 1]}${humps[at]}`;
    if (compound.length <= MAX_COMPOUND) compounds.push(stem(compound));
  }
  return { words, stopWords, compounds };
}
