/** A word of a question, a bracket, or the end of a line. */
export interface Token {
  /** The spelling, without punctuation around it. */
  readonly text: string;
  /** In lower case. */
  readonly word: string;
  /** True if it begins the question, or follows the end of a sentence. */
  readonly isFirst: boolean;
  /** True if punctuation follows. */
  readonly endsPhrase: boolean;
}

const APOSTROPHES = /[’‘ʼ`´](?=\p{L})/gu;
const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bcan't\b|\bcannot\b/giu, 'can not'],
  [/\bwon't\b/giu, 'will not'],
  [/n't\b/giu, ' not'],
  [/(?<=\b(?:wh(?:at|ere|o|en|y)|how|it|that|there|here))'s\b/giu, ' is'],
  [/'re\b/giu, ' are'],
  [/(?<=\bi)'m\b/giu, ' am'],
  [/'ll\b/giu, ' will'],
  [/'ve\b/giu, ' have'],
];
// a point before a digit, and a quote or an exclamation mark after one, belong to the number: .5, 5", 5!
const BEFORE = /^(?:["'“”„«»¿¡…;:!?。、]|[.,](?!\p{N}))+/u;
const AFTER = /(?:[…,;:?。、，？.]|(?<!\p{N})["'“”„«»!！])+$/u;
const PUNCTUATION = /[,;:!?.。、，？！…]["'”»]*$/u;
const ENDS_SENTENCE = /[.!?。？！]["'”»]*$/u;

/** The words of a question, the same for typographic variants: quotes, apostrophes, contractions, widths. */
export function tokensOf(question: string): readonly Token[] {
  let text = plainText(question).trim().replace(APOSTROPHES, "'");
  for (const [pattern, plain] of CONTRACTIONS) text = text.replace(pattern, plain);
  const pieces = text
    .replace(/[()[\]{}]/g, ' $& ')
    .replace(/\s*\n\s*/g, ' \n ')
    .split(/[^\S\n]+/);
  const tokens: Token[] = [];
  let isFirst = true;
  for (const piece of pieces) {
    const bare = piece.replace(BEFORE, '').replace(AFTER, '');
    const endsPhrase = PUNCTUATION.test(piece);
    if (bare !== '' || piece === '\n')
      tokens.push({
        text: bare || piece,
        word: (bare || piece).toLowerCase(),
        isFirst,
        endsPhrase,
      });
    isFirst = ENDS_SENTENCE.test(piece) || piece === '\n' || (isFirst && bare === '');
  }
  return tokens;
}

/** Without the full width of letters and digits; the exponent of 10² stays one. */
function plainText(question: string): string {
  const narrow = (character: string): string =>
    String.fromCharCode(character.charCodeAt(0) - 0xfee0);
  return question.normalize('NFC').replaceAll(/[\uff01-\uff5e]/g, narrow);
}

const QUOTED =
  /"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|(?<!\p{L})['‘]([^'’]+)['’](?!\p{L})|`([^`]+)`/gu;

/** The texts in quotes, unchanged. */
export function quotesOf(question: string): readonly string[] {
  return [...plainText(question).matchAll(QUOTED)].map((match) =>
    (match.slice(1).find((group) => group !== undefined) ?? '').trim(),
  );
}
