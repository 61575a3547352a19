/** Endings of English words that change their part of speech or their form rather than their meaning, the longest first. */
const ENDINGS: readonly string[] =
  `ational ization isation ication ations ation ators ator ements ement ments ment ances ance ences ence ancy ency ities ity
  ically ical ingly edly ings ing ated ating ate ized izing ize ised ising ise ed ers er ors or ions ion ives ive als al ics ic
  ly e`
    .split(/\s+/)
    .sort((a, b) => b.length - a.length);

/** What an ending leaves has at least so many letters. */
const SHORTEST = 4;

/**
 * The part of an English word that its forms share: `calculate`, `calculator` and `calculation` are `calcul`. Words of other
 * languages mostly stay as they are; it only matters that a word is always cut in the same way.
 */
export function stem(word: string): string {
  const singular = withoutPlural(word);
  const ending = ENDINGS.find((one) => singular.length - one.length >= SHORTEST && singular.endsWith(one));
  const root = ending === undefined ? singular : singular.slice(0, -ending.length);
  return withoutLast(root.length > 3 && DOUBLED.test(root) ? root.slice(0, -1) : root);
}

const DOUBLED = /([bdfgmnprt])\1$/;
const HISSING = /(?:x|ch|sh|ss|zz)es$/;
const PLURAL = /[^sui]s$/;

function withoutPlural(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || word === 'news') return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (HISSING.test(word)) return word.slice(0, -2);
  return PLURAL.test(word) ? word.slice(0, -1) : word;
}

/** `verify` and `verified`, `city` and `cities` end alike. */
function withoutLast(word: string): string {
  if (word.length > 4) return word.endsWith('y') || word.endsWith('i') ? word.slice(0, -1) : word;
  return word.length > 2 && word.endsWith('y') ? `${word.slice(0, -1)}i` : word;
}
