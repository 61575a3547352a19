import fc from 'fast-check';
import type { TextRule } from '../../advisors/guard/guard-rule.js';
import { StreamRedactor } from '../../advisors/guard/redaction.js';

/** The text that a redactor shows for each piece, and at the end. */
export function shownFor(rules: readonly TextRule[], pieces: readonly string[]): string[] {
  const redactor = new StreamRedactor(rules);
  return [...pieces.map((piece) => redactor.push(piece)), redactor.end()];
}

/** A text in pieces of at least one UTF-16 unit. */
export function piecesOf(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? text.length;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

/** Sizes of pieces: all of one unit, tokens, or long ones. */
export const anySizes = fc.oneof(
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 }),
  fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 8 }),
);
