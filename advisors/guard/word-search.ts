import type { GuardFinding, TextScan } from './guard-rule.js';

/** A letter of the words, or the space between two words of a phrase. */
class Letter {
  readonly next = new Map<number, Letter>();
  isEnd = false;
  /** True if the word is found within longer words. */
  inside = false;
}

/** A way through the letters of a word, from its first letter up to a place in a text. */
interface Path {
  readonly letter: Letter;
  /** Number of signs and spaces since the letter. */
  readonly gap: number;
  readonly space: boolean;
  /** True if two letters of the word touch, or if spaces are between two: both is not accepted. */
  readonly touching: boolean;
  readonly spaced: boolean;
  /** True if there were signs or spaces anywhere. */
  readonly loose: boolean;
}

/** Maximum number of signs and spaces between two letters of a word, and between two words. */
const MAX_GAP = 3;
const MAX_GAP_OF_WORDS = 8;
const SPACE = 0x20;

/** Letters by the signs and digits that are written for them. */
const SIGNS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'il',
  '2': 'z',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'il',
  '+': 't',
};
const SIGN_CODES: ReadonlyMap<number, readonly number[]> = new Map(
  Object.entries(SIGNS).map(([sign, letters]) => [codeOf(sign), Array.from(letters, codeOf)]),
);
/** For each ASCII character, 1 if it is a letter or a digit. */
const IS_LETTER = Uint8Array.from({ length: 128 }, (_none, code) =>
  /[a-z\d]/i.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Searches folded text for words of any number, in time that depends on the text alone. */
export class WordSearch {
  private readonly root = new Letter();
  private hasInside = false;

  /** @param word folded, in lower case, words of a phrase separated by one space */
  add(word: string, inside: boolean): void {
    let at = this.root;
    for (let index = 0; index < word.length; index++) {
      const code = word.charCodeAt(index);
      const next = at.next.get(code) ?? new Letter();
      at.next.set(code, next);
      at = next;
    }
    at.isEnd = true;
    at.inside ||= inside;
    this.hasInside ||= inside;
  }

  /** Findings of the kind in folded text. */
  scan(written: string, from: number, ended: boolean, kind: string): TextScan {
    const findings: GuardFinding[] = [];
    const before = Math.min(from, 2);
    const text = written.slice(from - before).toLowerCase();
    const shift = from - before;
    for (let at = before; at < text.length;) {
      const end = this.endAt(text, at, ended);
      if (end === undefined) return { findings, settled: at + shift };
      if (end > at) findings.push({ start: at + shift, end: end + shift, kind });
      at = Math.max(end, at + 1);
    }
    return { findings, settled: written.length };
  }

  /** The end of the longest word that starts there, 0 if none does, undefined if it is undecided. */
  private endAt(text: string, start: number, ended: boolean): number | undefined {
    const isWithin = start > 0 && isLetter(text.charCodeAt(start - 1)) && !isEscape(text, start);
    if (isWithin && !this.hasInside) return 0;
    let paths = this.firstPaths(text.charCodeAt(start));
    let end = 0;
    for (let at = start + 1; paths.length > 0; at++) {
      const isLast = at === text.length;
      if (isLast && !ended) return undefined;
      const isWhole = !isWithin && (isLast || !isLetter(text.charCodeAt(at)));
      for (const path of paths) if (isEnd(path, isWhole)) end = at;
      if (isLast) break;
      paths = following(paths, text.charCodeAt(at));
    }
    return end;
  }

  private firstPaths(code: number): Path[] {
    const paths: Path[] = [];
    this.addFirst(paths, code);
    const meant = SIGN_CODES.get(code);
    if (meant) for (const each of meant) this.addFirst(paths, each);
    return paths;
  }

  private addFirst(paths: Path[], code: number): void {
    const letter = this.root.next.get(code);
    if (letter) paths.push(pathTo(letter, false, false, false));
  }
}

function isEnd({ letter, gap, loose }: Path, isWhole: boolean): boolean {
  return letter.isEnd && gap === 0 && (isWhole || (letter.inside && !loose));
}

/** All ways on over the next character: a letter, a sign that is written for one, or a gap. */
function following(paths: readonly Path[], code: number): Path[] {
  const result: Path[] = [];
  const meant = SIGN_CODES.get(code);
  const isGap = !isLetter(code);
  for (const path of paths) {
    const count = result.length;
    if (code !== SPACE) addLetter(result, path, code);
    if (meant) for (const each of meant) addLetter(result, path, each);
    // a sign that continues the word does not count as a gap: with both, paths would double with
    // each sign
    if (isGap && result.length === count && path.gap < MAX_GAP_OF_WORDS)
      result.push(afterGap(path, code));
  }
  return result;
}

function afterGap({ letter, gap, space, touching, spaced }: Path, code: number): Path {
  const isSpace = code === SPACE || (code >= 9 && code <= 13);
  return { letter, gap: gap + 1, space: space || isSpace, touching, spaced, loose: true };
}

function pathTo(letter: Letter, touching: boolean, spaced: boolean, loose: boolean): Path {
  return { letter, gap: 0, space: false, touching, spaced, loose };
}

function addLetter(result: Path[], path: Path, code: number): void {
  const { letter, gap, loose } = path;
  const next = letter.next.get(code);
  if (next && gap <= MAX_GAP) {
    const touching = path.touching || gap === 0;
    const spaced = path.spaced || path.space;
    if (!(touching && spaced)) result.push(pathTo(next, touching, spaced, loose));
  }
  const first = gap > 0 ? letter.next.get(SPACE)?.next.get(code) : undefined;
  if (first) result.push(pathTo(first, false, false, loose));
}

function isLetter(code: number): boolean {
  return code >= 128 || IS_LETTER[code] === 1;
}

/** True if an escaped line break or tab of JSON ends there. */
function isEscape(text: string, end: number): boolean {
  return text[end - 2] === '\\' && /[nrt]/.test(text[end - 1] as string);
}

function codeOf(character: string): number {
  return character.charCodeAt(0);
}
