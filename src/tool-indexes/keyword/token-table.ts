import type { WordNumbers } from './vocabulary.js';

const NEITHER = 0;
const LETTER = 1;
const DIGIT = 2;

/** For each ASCII character whether it is a letter, a digit, or neither. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return LETTER;
  return /[0-9]/.test(character) ? DIGIT : NEITHER;
});

/**
 * What the runs of letters and digits in ASCII texts stand for, each worked out once. A hash table by hand, since cutting each run out
 * and asking a `Map` for it takes half of the time of an index: a run is known by 64 bits of hash, and is cut out when it is new.
 */
export class TokenTable {
  /** Two halves of a hash and the place of the value, for each row. */
  private rows = new Int32Array(3 * 1_024);
  private readonly values: WordNumbers[] = [];

  /** @param make what a run stands for */
  constructor(private readonly make: (token: string) => WordNumbers) {}

  /** @param text in ASCII */
  read(text: string): readonly WordNumbers[] {
    const found: WordNumbers[] = [];
    let kind = NEITHER;
    let start = 0;
    let first = 0;
    let second = 0;
    for (let at = 0; at <= text.length; at++) {
      const code = at < text.length ? text.charCodeAt(at) : 0;
      const next = KINDS[code] as number;
      if (next !== kind) {
        if (kind !== NEITHER) found.push(this.valueOf(first, second, text, start, at));
        kind = next;
        start = at;
        first = 0x2545f491;
        second = 0x1b873593;
      }
      first = Math.imul(first ^ code, 0x9e3779b1);
      second = Math.imul((second ^ code) + (second >>> 15), 0x85ebca6b);
    }
    return found;
  }

  private valueOf(first: number, second: number, text: string, start: number, end: number): WordNumbers {
    const row = this.rowOf(first, second);
    const known = this.rows[row + 2] as number;
    if (known > 0) return this.values[known - 1] as WordNumbers;
    const value = this.make(text.slice(start, end));
    this.rows.set([first, second, this.values.push(value)], row);
    if (this.values.length * 6 > this.rows.length) this.grow();
    return value;
  }

  /** The row of a hash, or the free row where it would be. */
  private rowOf(first: number, second: number): number {
    const { rows } = this;
    const mask = rows.length / 3 - 1;
    let row = (first ^ (second >>> 7)) & mask;
    while (rows[3 * row + 2] !== 0 && (rows[3 * row] !== first || rows[3 * row + 1] !== second)) row = (row + 1) & mask;
    return 3 * row;
  }

  private grow(): void {
    const before = this.rows;
    this.rows = new Int32Array(2 * before.length);
    for (let at = 0; at < before.length; at += 3) {
      const row = before.subarray(at, at + 3);
      if (row[2] !== 0) this.rows.set(row, this.rowOf(row[0] as number, row[1] as number));
    }
  }
}
