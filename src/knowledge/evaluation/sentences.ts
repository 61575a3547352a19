import type { CitedPlace } from '../../core/chat/citation.js';
import { QUOTATION } from './quotations.js';

/** A part of a text. */
export interface Sentence {
  readonly text: string;
  /** Offset of the first character. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
}

/** A citation in brackets, such as `[1]`. */
const MARKERS = /\[[^[\]\n]{1,400}\]/g;
const LETTER = /\p{L}/u;
/** The end of a sentence: punctuation before space and no lower case, or a line. Takes linear time. */
const BREAK = /(?<![.!?…])[.!?…]+["'”’»)\]]*\s+(?![\s\p{Ll}])|[。！？]+["'”’»」』）]*\s*|\n\s*/gu;
/** The end of a piece that the next one continues: `Dr. `, `St. `. */
const ABBREVIATION = /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}?\.$/u;

/**
 * The sentences of a text, each with the markers that follow it, and with what it quotes. Without
 * letters, such as the number of a line, is none, but a part of the next one.
 */
export function sentencesOf(text: string): readonly Sentence[] {
  const plain = masked(text);
  const ends = [...plain.matchAll(BREAK)].map(({ 0: found, index }) => index + found.length);
  const sentences: Sentence[] = [];
  let [start, from, hasLetter] = [0, 0, false];
  for (const end of [...ends, text.length]) {
    const piece = plain.slice(from, end);
    from = end;
    hasLetter ||= LETTER.test(piece);
    const isOpen = end < text.length && ABBREVIATION.test(piece.trimEnd().slice(-4));
    if (isOpen || !hasLetter) continue;
    sentences.push({ text: text.slice(start, end), start, end });
    [start, hasLetter] = [end, false];
  }
  return sentences;
}

/** A text of the same length with space for markers, and without the ends of sentences that it quotes. */
function masked(text: string): string {
  return text
    .replaceAll(MARKERS, (marker) => ' '.repeat(marker.length))
    .replaceAll(QUOTATION, (quoted) => {
      const kept = /[.!?。！？]?.$/u.exec(quoted)?.[0] ?? '';
      return 'x'.repeat(quoted.length - kept.length) + kept;
    });
}

/** The sentences that a place of a text overlaps; none for a citation without a place. */
export function sentencesAt(
  sentences: readonly Sentence[],
  { start = Infinity, end = -Infinity }: CitedPlace,
): readonly Sentence[] {
  return sentences.filter((each) => each.start < end && start < each.end);
}
