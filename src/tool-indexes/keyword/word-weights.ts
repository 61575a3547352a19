/** A sum for each of some words, by their numbers. Used again and again: a `Map` for each tool would be half of the work of an index. */
export class WordWeights {
  private sums = new Float64Array(1_024);
  private words: number[] = [];

  add(word: number, weight: number): void {
    if (word >= this.sums.length) this.grow(word);
    if (this.sums[word] === 0) this.words.push(word);
    this.sums[word] = (this.sums[word] as number) + weight;
  }

  /** Adds all of them to others, each at most so much, and is empty then. */
  moveTo(others: WordWeights, most: number): void {
    for (const word of this.words) {
      others.add(word, Math.min(this.sums[word] as number, most));
      this.sums[word] = 0;
    }
    this.words.length = 0;
  }

  /** Gives all of them, and is empty then. */
  take(): { readonly words: readonly number[]; readonly weights: readonly number[] } {
    const { words } = this;
    const weights = words.map((word) => this.sums[word] as number);
    for (const word of words) this.sums[word] = 0;
    this.words = [];
    return { words, weights };
  }

  private grow(word: number): void {
    const larger = new Float64Array(2 * word);
    larger.set(this.sums);
    this.sums = larger;
  }
}
