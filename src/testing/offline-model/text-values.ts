/** A value named in a text. */
export interface TextValue {
  readonly text: string;
  readonly quoted: boolean;
  /** The value as a number, where it is one. */
  readonly number: number | undefined;
  /** Offset of the value in the text. */
  readonly start: number;
  /** Words between the previous value and this one; for a number also the word that follows. */
  readonly context: readonly string[];
}

/** A quoted text, a name of capitalised words inside a sentence, or characters without spaces. */
const TOKEN =
  /"(?<quoted>[^"]+)"|(?<name>(?<!(?:^|[.!?\n])\s*)\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*(?![\p{L}\p{N}@/_-]))|[^\s"]+/gu;
const EDGES = /^[^\p{L}\p{N}$€£/~.-]+|['’]s$|[^\p{L}\p{N}%]+$/gu;
const NUMBER = /^[$€£]?(-?\d+(?:,\d{3})*(?:\.\d+)?)%?$/;
/** Email addresses, URLs, paths, dates and numbered codes. */
const CODE = /\d|\S[@/._:]\S/;

/** The values named in a text, in order: quoted texts, names, numbers and codes. */
export function valuesIn(text: string): readonly TextValue[] {
  const values: TextValue[] = [];
  let previousEnd = 0;
  for (const { 0: token, index: start, groups = {} } of text.matchAll(TOKEN)) {
    const { quoted, name } = groups;
    const word = quoted ?? token.replaceAll(EDGES, '');
    if (quoted === undefined && name === undefined && !CODE.test(word)) continue;
    const end = start + token.length;
    const digits = quoted === undefined ? NUMBER.exec(word)?.[1] : undefined;
    const unit = digits === undefined ? [] : wordsOf(text.slice(end, end + 30)).slice(0, 1);
    const context = [...wordsOf(text.slice(previousEnd, start)), ...unit];
    const number = digits === undefined ? undefined : Number(digits.replaceAll(',', ''));
    values.push({ text: word, quoted: quoted !== undefined, number, start, context });
    previousEnd = end;
  }
  return values;
}

/** A name such as `flight_price` or `flightPrice` in words. */
export function inWords(name: string): string {
  const spaced = name.replaceAll(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ').replaceAll(/[_.-]+/g, ' ');
  return spaced.trim().replaceAll(/\p{Lu}\p{Ll}+/gu, (word) => word.toLowerCase());
}

/** The words of a text or of a name, in lower case and without a plural s. */
export function wordsOf(text: string): readonly string[] {
  const words =
    inWords(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word));
}
