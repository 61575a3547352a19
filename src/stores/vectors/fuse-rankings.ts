/** The result of one search, best first. */
export interface Ranking<T> {
  readonly items: readonly T[];
  /** Share of this search in the fused scores, relative to others; > 0. */
  readonly weight: number;
}

/** An item of at least one ranking. */
export interface FusedItem<T> {
  readonly item: T;
  /** Sum of `weight / (rankConstant + rank)` over the rankings that have the item; ranks begin at 1. */
  readonly score: number;
}

/**
 * Fuses rankings by reciprocal rank (Cormack, Clarke and Büttcher 2009), which does not compare
 * their scores. Of equal items the first is kept, and in each ranking only the best rank counts;
 * items with equal scores stay in the order in which they were found.
 * @param keyOf the key by which items are equal
 * @param rankConstant damping of ranks, > 0: with a large value the first ranks count little more
 * than later ones
 */
export function fuseRankings<T>(
  rankings: readonly Ranking<T>[],
  keyOf: (item: T) => string,
  rankConstant: number,
): readonly FusedItem<T>[] {
  const fused = new Map<string, FusedItem<T>>();
  for (const { items, weight } of rankings) {
    const ranked = new Set<string>();
    for (const [at, item] of items.entries()) {
      const key = keyOf(item);
      if (ranked.has(key)) continue;
      ranked.add(key);
      const known = fused.get(key) ?? { item, score: 0 };
      fused.set(key, { item: known.item, score: known.score + weight / (rankConstant + at + 1) });
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score);
}
