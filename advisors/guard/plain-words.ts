const LETTER = 1;
/** Ends whatever was before it. */
const SEPARATOR = 2;
/** May be the beginning of a phone number, or within an address. */
const SIGN = 3;

/** By ASCII character: part of a token, a separator, or 0 for digits and signs that make a text remarkable. */
const CLASSES = Uint8Array.from({ length: 128 }, (_none, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/[.'(]/.test(character)) return SIGN;
  return /[\s,;!?")\x7f]/.test(character) ? SEPARATOR : 0;
});
/** Number of characters that a match has at least, if it has nothing remarkable. */
const MIN_LENGTH = 16;
/** Number of letters before a space that an IBAN may begin with. */
const COUNTRY = 2;

/**
 * The index up to which folded text is settled for all kinds of personal data and credentials, if it
 * has nothing but short words; undefined if it has anything that needs a search.
 *
 * Every match has a digit or a sign that makes a text remarkable, or at least 16 characters of one
 * token; none has a separator, except after such a sign, and an IBAN after the letters of its country.
 */
export function settledWords(text: string, from: number): number | undefined {
  if (text[from - 1] === '\\') return undefined; // the first letter may belong to an escape
  let [start, before, letters] = [from, from, 0];
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? CLASSES[code] : SEPARATOR;
    if (kind === SEPARATOR) {
      before = letters === COUNTRY ? at - COUNTRY : at + 1;
      start = at + 1;
    } else if (kind === 0 || at - start >= MIN_LENGTH - 2) return undefined;
    letters = kind === LETTER ? letters + 1 : 0;
  }
  return start === text.length ? before : start;
}
