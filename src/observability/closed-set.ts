import { OTHER } from './names.js';

/**
 * Values of a label that somebody else chooses: a user, a model, a server. The first so many are taken as they are, all others are one:
 * a metric has a series for each value, and without a bound they would take all memory.
 */
export class ClosedSet {
  private readonly values = new Set<string>();

  /** @param size how many values are taken as they are */
  constructor(private readonly size: number) {}

  label(value: string): string {
    if (this.values.has(value)) return value;
    if (this.values.size >= this.size || value.length > 200) return OTHER;
    this.values.add(value);
    return value;
  }
}
