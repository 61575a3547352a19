/** A text in quotation marks. */
export const QUOTATION = /["“„«]([^"“”„«»]{1,2000})["”“»]/g;
/** Length of a quotation that is checked; shorter ones are names and terms. */
const MIN_LENGTH = 12;
const ELLIPSIS = /\[?(?:…|\.{3})\]?/;

/** The texts in quotation marks. */
export function quotationsIn(text: string): readonly string[] {
  const quotations = [...text.matchAll(QUOTATION)].map(([, quotation = '']) => quotation.trim());
  return quotations.filter(({ length }) => length >= MIN_LENGTH);
}

/**
 * True if a text has the words of a quotation, in any case, with any white space and any form of
 * quotation marks and dashes; of a quotation with an ellipsis, all parts in order.
 * @param plain the text, by {@link toPlain}
 */
export function hasWords(plain: string, quotation: string): boolean {
  let at = 0;
  for (const part of quotation.split(ELLIPSIS)) {
    const words = toPlain(part).replace(/[.,;:!?]+$/, '');
    const found = plain.indexOf(words, at);
    if (found < 0) return false;
    at = found + words.length;
  }
  return at > 0;
}

/** A text in the form in which texts are compared. */
export function toPlain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/["“”„«»'’‘]/g, "'")
    .replaceAll(/[‐‑–—]/g, '-')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
