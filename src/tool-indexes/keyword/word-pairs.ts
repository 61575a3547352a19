/** What pairs of words are worth in the definition of a tool, by the numbers of their words. */
export class WordPairs {
  private readonly worths = new Map<number, Map<number, number>>();

  add(first: number, second: number, worth: number): void {
    const seconds = this.worths.get(first) ?? new Map<number, number>();
    this.worths.set(first, seconds.set(second, worth));
  }

  /** The worth of all pairs that stand together in a sequence, each counted once. */
  scoreOf(sequence: readonly number[]): number {
    if (this.worths.size === 0) return 0;
    const found = new Map<number, number>();
    for (let at = 1; at < sequence.length; at++) {
      const [first, second] = [sequence[at - 1] as number, sequence[at] as number];
      const worth = this.worths.get(first)?.get(second);
      if (worth !== undefined) found.set(first * 2 ** 26 + second, worth);
    }
    return [...found.values()].reduce((sum, worth) => sum + worth, 0);
  }
}
