import type { Posting } from './postings.js';

/** The tools of sessions that have the same ones, as slots of a {@link ToolLibrary}. */
export class ToolSelection {
  /** Number of sessions with these tools. */
  sessions = 0;
  /** Slots in the order of the tools. */
  slots: ArrayLike<number> & Iterable<number> = [];
  /** A bit for each slot up to the highest one. */
  private members = new Uint32Array();
  /** True if the order of the tools is the order of their slots. */
  private isAscending = true;
  private checksum = 0;

  /** @param totalLength sum of the lengths of the tools */
  constructor(
    slots: readonly number[],
    readonly totalLength: number,
  ) {
    this.setSlots(slots);
  }

  get size(): number {
    return this.slots.length;
  }

  has(slot: number): boolean {
    const bits = this.members[slot >>> 5];
    return bits !== undefined && ((bits >>> (slot & 31)) & 1) === 1;
  }

  /** Number of these tools that a posting has. */
  count(posting: Posting): number {
    const { members } = this;
    const end = 32 * members.length;
    let count = 0;
    for (let at = 0; at < posting.length; at += 2) {
      const slot = posting[at] as number;
      if (slot >= end) break;
      count += ((members[slot >>> 5] as number) >>> (slot & 31)) & 1;
    }
    return count;
  }

  equals({ slots, checksum }: ToolSelection): boolean {
    if (checksum !== this.checksum || slots.length !== this.slots.length) return false;
    for (let at = 0; at < slots.length; at++) if (slots[at] !== this.slots[at]) return false;
    return true;
  }

  renumber(newSlots: Int32Array): void {
    this.setSlots(Array.from(this.slots, (slot) => newSlots[slot] as number));
  }

  /**
   * Compares the places of tools in the order of the session, so that tools with equal scores rank
   * the same whichever tools others have.
   */
  comparator(): (one: number, other: number) => number {
    if (this.isAscending) return (one, other) => one - other;
    const places = new Uint32Array(32 * this.members.length);
    for (let at = 0; at < this.slots.length; at++) places[this.slots[at] as number] = at;
    return (one, other) => (places[one] as number) - (places[other] as number);
  }

  private setSlots(slots: readonly number[]): void {
    let max = -1;
    this.isAscending = true;
    this.checksum = 0;
    for (const slot of slots) {
      if (slot > max) max = slot;
      else this.isAscending = false;
      this.checksum = (Math.imul(this.checksum, 31) + slot) | 0;
    }
    // two bytes suffice mostly: of users with similar tools, these lists are what each of them costs
    this.slots = max < 65_536 ? Uint16Array.from(slots) : Uint32Array.from(slots);
    this.members = new Uint32Array(Math.ceil((max + 1) / 32));
    for (const slot of slots) {
      const at = slot >>> 5;
      this.members[at] = (this.members[at] as number) | (1 << (slot & 31));
    }
  }
}
