/** A range of a text: from `start` to before `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** The end of a sentence with the white space behind it, or a full stop that needs none. */
const SENTENCE_END = /[.!?…]["'”’)\]]{0,8}\s+|[。！？]["'”’」』）]{0,8}\s*/g;
const SEPARATOR = /[\s,;|)\]}>]/;
const SPACE = /\s/;
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** The last place in a range behind a sentence. */
export function lastSentenceEnd(text: string, { start, end }: Range): number | undefined {
  let last: number | undefined;
  for (const match of text.slice(start, end).matchAll(SENTENCE_END))
    last = start + match.index + match[0].length;
  return last;
}

/** The first place in a range behind a sentence. */
export function firstSentenceEnd(text: string, { start, end }: Range): number | undefined {
  const match = text.slice(start, end).matchAll(SENTENCE_END).next().value;
  const at = match && start + match.index + match[0].length;
  return at !== undefined && at < end ? at : undefined;
}

/** The last place in a range behind a line. */
export function lastLineEnd(text: string, { start, end }: Range): number | undefined {
  const feed = text.slice(start, end).lastIndexOf('\n');
  return feed < 0 ? undefined : start + feed + 1;
}

/** The first place in a range behind a line. */
export function firstLineEnd(text: string, { start, end }: Range): number | undefined {
  const feed = text.slice(start, end - 1).indexOf('\n');
  return feed < 0 ? undefined : start + feed + 1;
}

/** The last place in a range behind white space, else behind punctuation. */
export function lastWordEnd(text: string, range: Range): number | undefined {
  return lastBehind(SPACE, text, range) ?? lastBehind(SEPARATOR, text, range);
}

function lastBehind(pattern: RegExp, text: string, { start, end }: Range): number | undefined {
  for (let at = end; at > start; at--) if (pattern.test(text.charAt(at - 1))) return at;
  return undefined;
}

/** The first place in a range behind white space. */
export function firstWordEnd(text: string, { start, end }: Range): number | undefined {
  for (let at = start + 1; at < end; at++) if (SPACE.test(text.charAt(at - 1))) return at;
  return undefined;
}

/** The last place in a range between two characters as a reader sees them, where one fits. */
export function lastGraphemeEnd(text: string, { start, end }: Range): number {
  // some more characters, since the last grapheme may continue
  const part = text.slice(start, end + 32);
  const at =
    end - start < part.length ? graphemes.segment(part).containing(end - start) : undefined;
  if (!at || at.index > 0) return start + (at?.index ?? part.length);
  const [before, behind] = [text.charCodeAt(end - 1), text.charCodeAt(end)];
  const isPair = before >= 0xd800 && before <= 0xdbff && behind >= 0xdc00 && behind <= 0xdfff;
  return isPair ? end - 1 : end;
}

/** A range without the blank lines at its start, and the white space at its end. */
export function trimmed(text: string, { start, end }: Range): Range {
  let [from, to] = [start, end];
  while (to > from && SPACE.test(text.charAt(to - 1))) to--;
  const isInLine = start > 0 && text.charAt(start - 1) !== '\n';
  for (let at = from; at < to && SPACE.test(text.charAt(at)); at++)
    if (isInLine || text.charAt(at) === '\n' || text.charAt(at) === '\f') from = at + 1;
  return { start: from, end: to };
}
