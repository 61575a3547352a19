/**
 * The texts that contain a word, as pairs in one list: the slot of a text, ascending, and the factor
 * of the word in it. One list takes half the memory of two, or of a list of objects.
 */
export type Posting = number[];

/** The inverted index: a posting for each word. */
export class Postings {
  private readonly byWord = new Map<string, Posting>();

  get(word: string): Posting | undefined {
    return this.byWord.get(word);
  }

  /** @param slot higher than all slots before */
  add(word: string, slot: number, factor: number): void {
    const posting = this.byWord.get(word);
    if (posting) posting.push(slot, factor);
    else this.byWord.set(word, [slot, factor]);
  }

  /** Renumbers the slots in their order; -1 removes one. */
  renumber(newSlots: Int32Array): void {
    for (const [word, posting] of this.byWord) {
      let end = 0;
      for (let at = 0; at < posting.length; at += 2) {
        const slot = newSlots[posting[at] as number] as number;
        if (slot < 0) continue;
        posting[end++] = slot;
        posting[end++] = posting[at + 1] as number;
      }
      if (end === 0) this.byWord.delete(word);
      else posting.length = end;
    }
  }
}

/** Factor of a word in a text, 0 if the text does not contain the word. */
export function factorIn(posting: Posting, slot: number): number {
  const at = positionOf(posting, slot);
  return posting[at] === slot ? (posting[at + 1] as number) : 0;
}

/** Position of the first slot in a posting that is not lower. */
export function positionOf(posting: Posting, slot: number): number {
  let low = 0;
  let high = posting.length >>> 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((posting[2 * middle] as number) < slot) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}
