import { positionOf, type Posting } from '../../texts/postings.js';

/** Slots without tools that a search skips; fewer are read, which is faster than to look for the next. */
const GAP = 256;

/** The tools of sessions that have the same ones in the same order, as slots of a library. */
export class ToolSelection {
  /** Number of sessions with these tools. */
  sessions = 0;
  readonly size: number;
  /** First slots and ends of the ranges with tools: tools of other users between are not read. */
  private ranges: readonly number[] = [];
  /** A bit for each slot in a range: of users with similar tools, all that each costs. */
  private members: Uint32Array = new Uint32Array();
  /** Order of the tools, see {@link runsOf}; undefined if their slots are ascending. */
  private order: Uint16Array | Uint32Array | undefined;
  private checksum = 0;

  /**
   * @param totalLength sum of the lengths of the tools
   * @param bytes approximate memory of the tools
   */
  constructor(
    slots: readonly number[],
    readonly totalLength: number,
    readonly bytes: number,
  ) {
    this.size = slots.length;
    this.setSlots(slots);
  }

  /** Slots in the order of the tools. */
  slots(): readonly number[] {
    const ascending = this.ascendingSlots();
    if (!this.order) return ascending;
    const slots: number[] = [];
    for (let at = 0; at < this.order.length; at += 2) {
      const start = this.order[at] as number;
      const end = start + (this.order[at + 1] as number);
      for (let index = start; index < end; index++) slots.push(ascending[index] as number);
    }
    return slots;
  }

  /** Calls a function with the position of each of these tools that a posting has. */
  forEachIn(posting: Posting, visit: (at: number) => void): void {
    let bit = 0;
    for (let range = 0; range < this.ranges.length; range += 2) {
      const start = this.ranges[range] as number;
      const end = this.ranges[range + 1] as number;
      for (let at = positionOf(posting, start); at < posting.length; at += 2) {
        const slot = posting[at] as number;
        if (slot >= end) break;
        if (this.hasBit(bit + slot - start)) visit(at);
      }
      bit += end - start;
    }
  }

  /** Number of these tools that a posting has. */
  count(posting: Posting): number {
    let count = 0;
    this.forEachIn(posting, () => count++);
    return count;
  }

  equals({ checksum, size, ranges, members, order }: ToolSelection): boolean {
    return (
      checksum === this.checksum &&
      size === this.size &&
      isSame(ranges, this.ranges) &&
      isSame(members, this.members) &&
      isSame(order ?? [], this.order ?? [])
    );
  }

  renumber(newSlots: Int32Array): void {
    this.setSlots(this.slots().map((slot) => newSlots[slot] as number));
  }

  /**
   * Compares the places of tools in the order of the session, so that tools with equal scores rank
   * the same whichever tools others have.
   */
  comparator(): (one: number, other: number) => number {
    if (!this.order) return (one, other) => one - other;
    let places: Uint32Array | undefined;
    return (one, other) => {
      places ??= placesOf(this.slots());
      return (places[one] as number) - (places[other] as number);
    };
  }

  private ascendingSlots(): readonly number[] {
    const slots: number[] = [];
    let bit = 0;
    for (let range = 0; range < this.ranges.length; range += 2)
      for (
        let slot = this.ranges[range] as number;
        slot < (this.ranges[range + 1] as number);
        slot++
      )
        if (this.hasBit(bit++)) slots.push(slot);
    return slots;
  }

  private hasBit(bit: number): boolean {
    return (((this.members[bit >>> 5] as number) >>> (bit & 31)) & 1) === 1;
  }

  private setSlots(slots: readonly number[]): void {
    this.checksum = slots.reduce((sum, slot) => (Math.imul(sum, 31) + slot) | 0, 0);
    const ascending = slots.toSorted((a, b) => a - b);
    this.ranges = rangesOf(ascending);
    this.members = bitsOf(ascending, this.ranges);
    if (isSame(slots, ascending)) return;
    const runs = runsOf(slots, ascending);
    this.order = this.size < 65_536 ? Uint16Array.from(runs) : Uint32Array.from(runs);
  }
}

/**
 * The order of slots as runs of neighbours: places among the ascending slots, as pairs of the first
 * one and a count. Lists of users that come from one catalogue have few runs.
 */
function runsOf(slots: readonly number[], ascending: readonly number[]): readonly number[] {
  const places = placesOf(ascending);
  const runs: number[] = [];
  let next = -1;
  for (const slot of slots) {
    const place = places[slot] as number;
    if (place === next) runs.push((runs.pop() as number) + 1);
    else runs.push(place, 1);
    next = place + 1;
  }
  return runs;
}

function rangesOf(ascending: readonly number[]): readonly number[] {
  const ranges: number[] = [];
  for (const slot of ascending) {
    const end = ranges.at(-1);
    if (end === undefined || slot - end > GAP) ranges.push(slot, slot + 1);
    else ranges[ranges.length - 1] = slot + 1;
  }
  return ranges.slice();
}

/** A bit for each slot in the ranges, one range after another. */
function bitsOf(ascending: readonly number[], ranges: readonly number[]): Uint32Array {
  const length = ranges.reduce((sum, slot, at) => (at % 2 === 0 ? sum - slot : sum + slot), 0);
  const bits = new Uint32Array(Math.ceil(length / 32));
  let range = 0;
  // slot - shift is the bit of a slot
  let shift = ranges[0] ?? 0;
  for (const slot of ascending) {
    for (; slot >= (ranges[range + 1] as number); range += 2)
      shift += (ranges[range + 2] as number) - (ranges[range + 1] as number);
    const bit = slot - shift;
    bits[bit >>> 5] = (bits[bit >>> 5] as number) | (1 << (bit & 31));
  }
  return bits;
}

/** The index of each slot in a list, by slot. */
function placesOf(slots: readonly number[]): Uint32Array {
  const places = new Uint32Array(slots.reduce((highest, slot) => Math.max(highest, slot + 1), 0));
  for (const [place, slot] of slots.entries()) places[slot] = place;
  return places;
}

function isSame(one: ArrayLike<number>, other: ArrayLike<number>): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
