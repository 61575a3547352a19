import { truncate } from '../../src/core/internal/text.js';

/** A place in the middle of a text that is left out. */
export interface Gap {
  readonly start: number;
  readonly end: number;
}

/**
 * The middle of a text, so that two thirds of `kept` characters stay before it and one third after
 * it: errors and totals stand at the end. It begins and ends at the end of a line where there is one.
 */
export function middleOf(text: string, kept: number): Gap {
  const start = wholeLines(text, 0, Math.ceil((kept * 2) / 3)).length;
  const length = Math.floor(kept / 3);
  const end = nextCharacter(text, Math.max(start, text.length - length));
  const line = text.indexOf('\n', end - 1) + 1;
  return { start, end: line > 0 && line < end + length / 2 ? line : end };
}

/**
 * The first characters of a text from an offset, without the beginning of an unfinished line,
 * unless it is most of them.
 */
export function wholeLines(text: string, offset: number, maxLength: number): string {
  const piece = truncate(text.slice(offset, offset + maxLength + 1), maxLength);
  if (offset + piece.length === text.length) return piece;
  const end = piece.lastIndexOf('\n') + 1;
  return end > maxLength / 2 ? piece.slice(0, end) : piece;
}

/** The offset, or the next one if it is inside a surrogate pair. */
export function nextCharacter(text: string, offset: number): number {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code <= 0xdfff ? offset + 1 : offset;
}
