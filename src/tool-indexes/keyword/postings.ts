/** The tools that have a word. */
export interface Posting {
  /** Where they are in the index, ascending. */
  readonly slots: number[];
  /** What the word weighs in each of them. */
  readonly weights: number[];
}

/** For each word of a vocabulary the tools that have it. */
export class Postings {
  private readonly byWord: Posting[] = [];

  get(word: number): Posting | undefined {
    return this.byWord[word];
  }

  add(slot: number, words: readonly number[], weights: readonly number[]): void {
    for (let at = 0; at < words.length; at++) {
      const word = words[at] as number;
      while (this.byWord.length <= word) this.byWord.push({ slots: [], weights: [] });
      insert(this.byWord[word] as Posting, slot, weights[at] as number);
    }
  }

  /** Gives back the room that lists have to grow. */
  shrink(): void {
    for (const [word, { slots, weights }] of this.byWord.entries())
      if (slots.length > 1) this.byWord[word] = { slots: slots.slice(), weights: weights.slice() };
  }

  remove(slot: number, words: readonly number[]): void {
    for (const word of words) {
      const posting = this.byWord[word] as Posting;
      const at = placeOf(slot, posting.slots);
      posting.slots.splice(at, 1);
      posting.weights.splice(at, 1);
    }
  }
}

function insert({ slots, weights }: Posting, slot: number, weight: number): void {
  const at = placeOf(slot, slots);
  if (at === slots.length) {
    slots.push(slot);
    weights.push(weight);
  } else {
    slots.splice(at, 0, slot);
    weights.splice(at, 0, weight);
  }
}

/** What a word weighs in a tool, 0 if it is not there. */
export function weightIn({ slots, weights }: Posting, slot: number): number {
  const at = placeOf(slot, slots);
  return slots[at] === slot ? (weights[at] as number) : 0;
}

/** Where a slot is, or would be. */
function placeOf(slot: number, slots: readonly number[]): number {
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
