/**
 * A text with U+FFFD in place of each unpaired surrogate. Texts that were cut have them, half an
 * emoji at the end; providers refuse a request with one, and so every later turn of a conversation.
 */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** An escaped surrogate, in pairs or not. */
const SURROGATE = /\\u[dD][89a-fA-F]/;
/** Whole pairs, unpaired surrogates, and other escapes, such as a backslash before a `u`. */
const ESCAPES =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\(u[dD][89a-fA-F][\da-fA-F]{2})|\\[^]/g;

/** JSON text with U+FFFD in place of each unpaired surrogate, also of an escaped one. */
export function wellFormedJson(text: string): string {
  const whole = wellFormed(text);
  if (!SURROGATE.test(whole)) return whole;
  return whole.replaceAll(ESCAPES, (escape, unpaired?: string) =>
    unpaired === undefined ? escape : '\\ufffd',
  );
}

/** A text that arrives in pieces, which may split a pair: its first half waits for the second. */
export class TextPieces {
  /** A high surrogate, or nothing. */
  private half = '';

  /** The text of a piece that is complete. */
  next(piece: string): string {
    const text = this.half + piece;
    const last = text.charCodeAt(text.length - 1);
    this.half = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : '';
    return wellFormed(this.half === '' ? text : text.slice(0, -1));
  }

  /** The text of a half that was the last one. */
  end(): string {
    const rest = wellFormed(this.half);
    this.half = '';
    return rest;
  }
}
