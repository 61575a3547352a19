/** The tools that contain a word. */
export interface Posting {
  /** Slots of the tools in the index, ascending. */
  readonly slots: number[];
  /** Weight of the word in each of them. */
  readonly weights: number[];
}

/** Removes a tool, which the posting contains. */
export function removeFrom({ slots, weights }: Posting, slot: number): void {
  const at = positionOf(slot, slots);
  slots.splice(at, 1);
  weights.splice(at, 1);
}

/** Weight of a word in a tool, 0 if it does not contain the word. */
export function weightIn({ slots, weights }: Posting, slot: number): number {
  const at = positionOf(slot, slots);
  return slots[at] === slot ? (weights[at] as number) : 0;
}

/** Position of the first slot in an ascending list that is not lower. */
function positionOf(slot: number, slots: readonly number[]): number {
  let low = 0;
  let high = slots.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((slots[middle] as number) < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}
