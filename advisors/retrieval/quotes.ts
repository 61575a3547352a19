/** Maximum length of a quotation. */
const MAX_LENGTH = 2_000;
/** A quotation at the end of a text. */
const QUOTE = /["“„«]([^"“”„«»]{1,2000})["”“»][.,;:!?]?\s*$/;
const SIGNS = /[$()*+.?[\\\]^{|}]/g;

/** The words in quotation marks before a place of a text. */
export function quoteBefore(text: string, at: number): string | undefined {
  const before = text.slice(Math.max(0, at - MAX_LENGTH - 10), at);
  const quote = QUOTE.exec(before)?.[1]?.trim();
  return quote === '' ? undefined : quote;
}

/**
 * The place of a quotation in a text, from its first word to its last: in any case, with any space
 * between its words, and with any text where it has an ellipsis.
 */
export function findQuote(
  quote: string,
  text: string,
): { readonly start: number; readonly end: number } | undefined {
  const pieces = quote.split(/…|\.{3}|\[…\]/).filter((piece) => /\w|[^\0-\x7f]/.test(piece));
  let start: number | undefined;
  let end = 0;
  for (const piece of pieces) {
    const found = patternOf(piece).exec(text.slice(end));
    if (!found) return undefined;
    start ??= end + found.index;
    end += found.index + found[0].length;
  }
  return start === undefined ? undefined : { start, end };
}

function patternOf(piece: string): RegExp {
  const words = piece
    .replace(/[.,;:!?]$/, '')
    .trim()
    .split(/\s+/);
  const escaped = words.map((word) =>
    word.replace(SIGNS, String.raw`\$&`).replaceAll(/['’]/g, "['’]"),
  );
  return new RegExp(escaped.join(String.raw`\s+`), 'i');
}
