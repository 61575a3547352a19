// BM25+ (Robertson and Zaragoza 2009; Lv and Zhai 2011).
/** How soon a word that is repeated says nothing new. */
const K1 = 1.6;
/** How much a long definition is held against a tool, 0 to 1. */
const B = 0.75;
/** What a word is worth however long the definition is. */
const DELTA = 0.3;

/** What a word that few tools have is worth more than one that many have. */
export function rarity(withWord: number, all: number): number {
  return Math.log(1 + (all - withWord + 0.5) / (withWord + 0.5));
}

/** How well a word fits a definition in which it has this weight. Of the length, 1 is that of an average definition. */
export function saturation(weight: number, relativeLength: number): number {
  return (weight * (K1 + 1)) / (weight + K1 * (1 - B) + K1 * B * relativeLength) + DELTA;
}
