import { CONTEXT_LENGTH, type TextRule, type TextScan } from './guard-rule.js';
import { HOMOGLYPHS } from './homoglyphs.js';

/** A text in its plain form, with the way back to the text as written. */
export interface FoldedText {
  readonly text: string;
  /** Index in the text as written, of a UTF-16 unit of the folded text or of its end. */
  readonly startOf: (at: number) => number;
  /** Index in the text as written, after what a UTF-16 unit of the folded text comes from. */
  readonly endOf: (at: number) => number;
}

/** Number of characters before a search that are folded too: rules of folded text look back at two. */
const FOLDED_CONTEXT = 2;
/**
 * Marks on letters, lines that stretch Arabic ones, and characters that are not shown: zero-width, bidi
 * controls, tags, fillers.
 */
const UNSEEN = /[\p{M}\p{Cf}\u0640\u07fa\p{Default_Ignorable_Code_Point}]|(?!\s)\p{Cc}/gu;
const DASH = /\p{Pd}/u;
const LETTER = /[ -~\s]|\p{L}|\p{N}/u;
/** Code points of A in white on a circle and on a square, whose alphabets have no compatibility form. */
const NEGATIVE_LETTERS = [0x1f150, 0x1f170];
/** Code point of A as half of a flag. */
const REGIONAL_LETTERS = 0x1f1e6;
/** Replaces signs and symbols outside of ASCII, so that an ASCII class knows letters from signs. */
const OTHER_SIGN = '\x7f';
const DIGIT = /\p{Nd}/u;
const SPACE = /[\p{Zs}\u2028\u2029\u2800]/u;

const folds = new Map<number, string>();
/** Number of folds that are kept: the characters of all scripts of a conversation. */
const MAX_FOLDS = 20_000;

/** By UTF-16 unit: the unit that it becomes, or 0 as long as that is not known. */
const unitFolds = new Uint16Array(0x10000);
/** Marks a unit that becomes none or several. */
const NO_UNIT = 0xffff;

/**
 * Brings a text to its plain form, character by character, so that any part of a text has the same
 * form as in the whole: compatibility forms, accents, look-alikes, dashes and spaces become the
 * plain character, and what is not shown is dropped. Case is kept.
 */
export function fold(written: string): FoldedText {
  if (isPlainAscii(written, 0))
    return { text: written, startOf: (at) => at, endOf: (at) => at + 1 };
  let text = '';
  const starts: number[] = [];
  const ends: number[] = [];
  for (let at = 0; at < written.length;) {
    const code = written.codePointAt(at) as number;
    const end = at + (code > 0xffff ? 2 : 1);
    const folded = code >= 0x20 && code < 0x7f ? (written[at] as string) : foldOf(code);
    for (let unit = 0; unit < folded.length; unit++) {
      starts.push(at);
      ends.push(end);
    }
    text += folded;
    at = end;
  }
  starts.push(written.length);
  return { text, startOf: (at) => starts[at] as number, endOf: (at) => ends[at] as number };
}

function foldOf(code: number): string {
  const known = folds.get(code);
  if (known !== undefined) return known;
  if (folds.size >= MAX_FOLDS) folds.clear();
  const folded = newFoldOf(String.fromCodePoint(code));
  folds.set(code, folded);
  return folded;
}

function newFoldOf(character: string): string {
  const symbol = letterOf(character);
  if (symbol !== undefined) return symbol;
  const plain = character.normalize('NFKD').replace(UNSEEN, '');
  return Array.from(plain, plainCharacter).join('');
}

/** The letter in a symbol; in a flag between signs, so that a flag before a word is not a part of it. */
function letterOf(character: string): string | undefined {
  const code = character.codePointAt(0) as number;
  const letter = (first: number): string | undefined =>
    code >= first && code < first + 26 ? String.fromCharCode(0x41 + code - first) : undefined;
  const regional = letter(REGIONAL_LETTERS);
  if (regional !== undefined) return `${OTHER_SIGN}${regional}${OTHER_SIGN}`;
  return NEGATIVE_LETTERS.map(letter).find((each) => each !== undefined);
}

function plainCharacter(character: string): string {
  if (DASH.test(character)) return '-';
  if (SPACE.test(character)) return ' ';
  if (DIGIT.test(character)) return digitOf(character);
  return HOMOGLYPHS.get(character) ?? (LETTER.test(character) ? character : OTHER_SIGN);
}

/** The digits of each script follow one another, from zero on. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) as number;
  let first = code;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % 10);
}

/** Searches the plain form of a growing text; findings have positions in the text as written. */
export function scanFolded(
  search: Pick<TextRule, 'scan'>,
  written: string,
  from: number,
  ended: boolean,
): TextScan {
  const start = contextStart(written, from);
  if (isPlainAscii(written, start)) return search.scan(written, from, ended);
  const same = foldedUnits(written, start);
  if (same !== undefined) return shifted(search.scan(same, from - start, ended), start);
  const { text, startOf, endOf } = fold(written.slice(start));
  let before = 0;
  while (before < text.length && startOf(before) < from - start) before++;
  const { findings, settled } = search.scan(text, before, ended);
  // what is not shown before an unsettled character stays with it, so that it has its context
  const last = settled > 0 ? Math.min(startOf(settled), endOf(settled - 1)) : 0;
  return {
    findings: findings.map((found) => ({
      start: start + startOf(found.start),
      end: start + endOf(found.end - 1),
      kind: found.kind,
    })),
    settled: ended ? written.length : Math.max(from, start + last),
  };
}

/** The index of the characters to look back at, with none that is not shown between them. */
function contextStart(written: string, from: number): number {
  let start = Math.max(0, from - FOLDED_CONTEXT);
  while (start > 0 && from - start < CONTEXT_LENGTH && unitFoldOf(written, start) === NO_UNIT)
    start--;
  return start;
}

function shifted({ findings, settled }: TextScan, by: number): TextScan {
  const moved = findings.map(({ start, end, kind }) => ({
    start: start + by,
    end: end + by,
    kind,
  }));
  return { findings: moved, settled: settled + by };
}

/** The plain form of a text from an index on if each UTF-16 unit of it has one, otherwise undefined. */
function foldedUnits(text: string, from: number): string | undefined {
  let folded = '';
  for (let at = from; at < text.length; at++) {
    const unit = unitFoldOf(text, at);
    if (unit === NO_UNIT) return undefined;
    folded += String.fromCharCode(unit);
  }
  return folded;
}

function unitFoldOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return unitFolds[code] || (unitFolds[code] = newUnitFold(code));
}

function newUnitFold(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) return NO_UNIT;
  const { text } = fold(String.fromCharCode(code));
  return text.length === 1 ? text.charCodeAt(0) : NO_UNIT;
}

/** True if a text has printable ASCII and white space only, which is its plain form already. */
function isPlainAscii(text: string, from: number): boolean {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7e || (code < 0x20 && (code < 9 || code > 13))) return false;
  }
  return true;
}
