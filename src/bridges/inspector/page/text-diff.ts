import { diffTokens, type Budget, type TokenRange } from './token-diff.js';

// The difference of two texts by words, quick enough for texts of a megabyte: by lines first, then by the words of the
// lines that changed.

/** A piece of two texts: `same` is in both, `removed` in the old one alone, `added` in the new one alone. */
export interface TextPart {
  readonly type: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Lines with their end; the last may have none. */
const LINE = /[^\n]*\n|[^\n]+/g;
/** Letters of scripts without spaces count as words. */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]`;
/** Words, white space, and any other character by itself. */
const WORD = new RegExp(
  String.raw`${UNSPACED}|(?:(?!${UNSPACED})[\p{L}\p{M}\p{N}_])+|\s+|[^]`,
  'gu',
);
/** Comparisons of tokens for two texts. */
const MAX_WORK = 2_000_000;
/** Texts that have less than this part in common are shown as replaced. */
const MIN_COMMON = 0.3;

/**
 * The difference of two texts: the parts that are not `added` give the old text, those that are not
 * `removed` the new one.
 */
export function diffTexts(before: string, after: string): readonly TextPart[] {
  const budget = { work: MAX_WORK };
  const pieces: Piece[] = [];
  for (const [range, old, now] of compared(before, after, LINE, budget)) {
    if (range.same) pieces.push({ same: old, removed: '', added: '' });
    else
      for (const [word, from, to] of compared(old, now, WORD, budget))
        pieces.push(piece(word, from, to));
  }
  const same = pieces.reduce((sum, each) => sum + each.same.length, 0);
  if (same < MIN_COMMON * Math.min(before.length, after.length))
    return partsOf({ same: '', removed: before, added: after });
  return joined(pieces).flatMap(partsOf);
}

/** Characters of the parts, by type. */
export function sizesOf(parts: readonly TextPart[]): Readonly<Record<TextPart['type'], number>> {
  const sizes = { same: 0, removed: 0, added: 0 };
  for (const { type, text } of parts) sizes[type] += text.length;
  return sizes;
}

/** A change, and the text that both have after it. */
interface Piece {
  readonly removed: string;
  readonly added: string;
  readonly same: string;
}

const piece = ({ same }: TokenRange, old: string, now: string): Piece =>
  same ? { same: old, removed: '', added: '' } : { same: '', removed: old, added: now };

function partsOf({ removed, added, same }: Piece): readonly TextPart[] {
  const parts: readonly TextPart[] = [
    { type: 'removed', text: removed },
    { type: 'added', text: added },
    { type: 'same', text: same },
  ];
  return parts.filter(({ text }) => text !== '');
}

/**
 * The same pieces with neighbours joined, also two replacements with nothing but white space between:
 * the difference of "red wine" and "white beer" is one.
 */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const list: Piece[] = [];
  for (const next of pieces) {
    const last = list.at(-1);
    if (!last) list.push(next);
    else if (isOneChange(last, next)) {
      list[list.length - 1] = {
        removed: last.removed + last.same + next.removed,
        added: last.added + last.same + next.added,
        same: next.same,
      };
    } else if (next.removed === '' && next.added === '')
      list[list.length - 1] = { ...last, same: last.same + next.same };
    else list.push(next);
  }
  return list;
}

function isOneChange(last: Piece, next: Piece): boolean {
  if (next.removed === '' && next.added === '') return false;
  if (last.same === '') return true;
  if (last.same.length > 3 || last.same.trim() !== '' || last.same.includes('\n')) return false;
  return [last, next].every(({ removed, added }) => removed !== '' && added !== '');
}

/** The ranges of two texts, with their old and new text. */
function compared(
  before: string,
  after: string,
  pattern: RegExp,
  budget: Budget,
): readonly (readonly [TokenRange, string, string])[] {
  const numbers = new Map<string, number>();
  const numbered = (tokens: readonly string[]): Int32Array =>
    Int32Array.from(tokens, (token) => {
      const number = numbers.get(token) ?? numbers.size;
      numbers.set(token, number);
      return number;
    });
  const old = before.match(pattern) ?? [];
  const now = after.match(pattern) ?? [];
  return diffTokens(numbered(old), numbered(now), budget).map((range) => [
    range,
    old.slice(...range.before).join(''),
    now.slice(...range.after).join(''),
  ]);
}
