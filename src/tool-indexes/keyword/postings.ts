/** The tools that contain a word. */
export interface Posting {
  /** Slots of the tools in the index, ascending. */
  readonly slots: number[];
  /** Weight of the word in each of them. */
  readonly weights: number[];
}

/** The inverted index: the tools that contain each word. */
export class Postings {
  private readonly byWord = new Map<string, Posting>();

  get(word: string): Posting | undefined {
    return this.byWord.get(word);
  }

  add(slot: number, weightByWord: ReadonlyMap<string, number>): void {
    for (const [word, weight] of weightByWord) {
      const posting = this.byWord.get(word);
      if (posting) insert(posting, slot, weight);
      else this.byWord.set(word, { slots: [slot], weights: [weight] });
    }
  }

  remove(slot: number, words: Iterable<string>): void {
    for (const word of words) {
      const { slots, weights } = this.byWord.get(word) as Posting;
      const at = positionOf(slot, slots);
      slots.splice(at, 1);
      weights.splice(at, 1);
      if (slots.length === 0) this.byWord.delete(word);
    }
  }
}

/** Weight of a word in a tool, 0 if it does not contain the word. */
export function weightIn({ slots, weights }: Posting, slot: number): number {
  const at = positionOf(slot, slots);
  return slots[at] === slot ? (weights[at] as number) : 0;
}

function insert({ slots, weights }: Posting, slot: number, weight: number): void {
  const at = positionOf(slot, slots);
  if (at === slots.length) {
    slots.push(slot);
    weights.push(weight);
  } else {
    slots.splice(at, 0, slot);
    weights.splice(at, 0, weight);
  }
}

/** Position of a slot in an ascending list, or where it is to be inserted. */
function positionOf(slot: number, slots: readonly number[]): number {
  let low = 0;
  let high = slots.length;
  if (high === 0 || (slots[high - 1] as number) < slot) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((slots[middle] as number) < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}
