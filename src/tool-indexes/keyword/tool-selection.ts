import { positionOf, type Posting } from './postings.js';

/** Slots without tools that a search skips; fewer are read, which is faster than to look for the next. */
const GAP = 256;

/** The tools of sessions that have the same ones in the same order, as slots of a library. */
export class ToolSelection {
  /** Number of sessions with these tools. */
  sessions = 0;
  readonly size: number;
  /** A bit for each slot up to the highest one: of users with similar tools, all that each costs. */
  private members = new Uint32Array();
  /** First slots and ends of the ranges with tools: those of other users between them are not read. */
  private ranges: readonly number[] = [];
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
    const ascending: number[] = [];
    for (let slot = 0; ascending.length < this.size; slot++)
      if (this.has(slot)) ascending.push(slot);
    if (!this.order) return ascending;
    const slots: number[] = [];
    for (let at = 0; at < this.order.length; at += 2) {
      const start = this.order[at] as number;
      const end = start + (this.order[at + 1] as number);
      for (let index = start; index < end; index++) slots.push(ascending[index] as number);
    }
    return slots;
  }

  has(slot: number): boolean {
    const bits = this.members[slot >>> 5];
    return bits !== undefined && ((bits >>> (slot & 31)) & 1) === 1;
  }

  /** Calls a function with the position of each of these tools that a posting has. */
  forEachIn(posting: Posting, visit: (at: number) => void): void {
    for (let range = 0; range < this.ranges.length; range += 2) {
      const end = this.ranges[range + 1] as number;
      for (
        let at = positionOf(posting, this.ranges[range] as number);
        at < posting.length;
        at += 2
      ) {
        const slot = posting[at] as number;
        if (slot >= end) break;
        if (this.has(slot)) visit(at);
      }
    }
  }

  /** Number of these tools that a posting has. */
  count(posting: Posting): number {
    let count = 0;
    this.forEachIn(posting, () => count++);
    return count;
  }

  equals({ checksum, size, members, order }: ToolSelection): boolean {
    return (
      checksum === this.checksum &&
      size === this.size &&
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

  private setSlots(slots: readonly number[]): void {
    const end = slots.reduce((highest, slot) => Math.max(highest, slot + 1), 0);
    this.members = new Uint32Array(Math.ceil(end / 32));
    this.checksum = 0;
    for (const slot of slots) {
      const at = slot >>> 5;
      this.members[at] = (this.members[at] as number) | (1 << (slot & 31));
      this.checksum = (Math.imul(this.checksum, 31) + slot) | 0;
    }
    const ascending = slots.toSorted((a, b) => a - b);
    this.ranges = rangesOf(ascending);
    const runs = runsOf(slots, ascending);
    if (runs.length > 2)
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
