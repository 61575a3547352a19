/** Something with a score. */
export interface Scored {
  readonly id: number;
  readonly score: number;
}

/** The best of many, best first; of equal ones those with the lower id. Never holds more than twice as many as are wanted. */
export class TopScores {
  private kept: Scored[] = [];
  private least = -Infinity;

  constructor(private readonly wanted: number) {}

  offer(id: number, score: number): void {
    if (score < this.least) return;
    this.kept.push({ id, score });
    if (this.kept.length >= 2 * this.wanted) this.cut();
  }

  toArray(): readonly Scored[] {
    this.cut();
    return this.kept;
  }

  private cut(): void {
    this.kept = this.kept.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, this.wanted);
    if (this.kept.length === this.wanted) this.least = (this.kept.at(-1) as Scored).score;
  }
}
