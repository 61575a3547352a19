/** A text by its slot, with its score. */
export interface Scored {
  readonly slot: number;
  readonly score: number;
}

/** Collects the highest scores, ties in the given order; holds at most twice as many as requested. */
export class TopScores {
  private kept: Scored[] = [];
  private lowest = -Infinity;

  /** @param compare order of texts with equal scores */
  constructor(
    private readonly count: number,
    private readonly compare: (one: number, other: number) => number,
  ) {}

  offer(slot: number, score: number): void {
    if (score < this.lowest) return;
    this.kept.push({ slot, score });
    if (this.kept.length >= 2 * this.count) this.prune();
  }

  /** Highest score first. */
  toArray(): readonly Scored[] {
    this.prune();
    return this.kept;
  }

  private prune(): void {
    const { compare } = this;
    this.kept = this.kept
      .sort((a, b) => b.score - a.score || compare(a.slot, b.slot))
      .slice(0, this.count);
    if (this.kept.length === this.count) this.lowest = (this.kept.at(-1) as Scored).score;
  }
}
