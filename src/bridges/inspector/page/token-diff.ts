// The difference of two lists of tokens, with bounded work: the shortest one of short ranges, and of long ones by
// anchors, tokens that occur once in both. Where the bound is reached a range counts as replaced: true, if coarser.

/** Tokens that both lists have (`same`), or a range in place of another one; ends are exclusive. */
export interface TokenRange {
  readonly same: boolean;
  readonly before: readonly [start: number, end: number];
  readonly after: readonly [start: number, end: number];
}

/** Steps that are left, for all comparisons that share it. */
export interface Budget {
  work: number;
}

/** Tokens as numbers; equal numbers are equal tokens. */
type Tokens = ArrayLike<number>;
type Range = readonly [start: number, end: number, otherStart: number, otherEnd: number];

/** Tokens of a range that is compared at once. */
const SHORT = 1_500;
/** Edits of a long range without anchors. */
const MAX_EDITS = 500;
const MAX_DEPTH = 40;

/** The ranges of two lists, in order, which together are all of both. */
export function diffTokens(
  before: Tokens,
  after: Tokens,
  budget: Budget = { work: 2_000_000 },
): readonly TokenRange[] {
  const ranges: TokenRange[] = [];
  compare([0, before.length, 0, after.length], 0);
  return ranges;

  function compare(range: Range, depth: number): void {
    const [head, [start, end, otherStart, otherEnd], tail] = trimmed(before, after, range);
    add(true, head);
    if (start === end || otherStart === otherEnd) add(false, [start, end, otherStart, otherEnd]);
    else compareMiddle([start, end, otherStart, otherEnd], depth);
    add(true, tail);
  }

  function compareMiddle(range: Range, depth: number): void {
    const [start, end, otherStart, otherEnd] = range;
    const size = end - start + otherEnd - otherStart;
    const edits = size <= SHORT ? shortestEdits(before, after, range, SHORT, budget) : undefined;
    if (edits) return edits.forEach(([same, each]) => add(same, each));
    budget.work -= size;
    const anchors = depth < MAX_DEPTH && budget.work > 0 ? anchorsOf(before, after, range) : [];
    if (anchors.length > 0) return compareBetween(range, anchors, depth);
    const some = shortestEdits(before, after, range, MAX_EDITS, budget);
    if (some) some.forEach(([same, each]) => add(same, each));
    else add(false, range);
  }

  function compareBetween(range: Range, anchors: readonly Anchor[], depth: number): void {
    let [start, , otherStart] = range;
    for (const [at, otherAt] of anchors) {
      compare([start, at, otherStart, otherAt], depth + 1);
      add(true, [at, at + 1, otherAt, otherAt + 1]);
      [start, otherStart] = [at + 1, otherAt + 1];
    }
    compare([start, range[1], otherStart, range[3]], depth + 1);
  }

  function add(same: boolean, [start, end, otherStart, otherEnd]: Range): void {
    if (start === end && otherStart === otherEnd) return;
    const last = ranges.at(-1);
    if (last?.same === same) ranges.pop();
    const first = last?.same === same ? last : undefined;
    const from = first ? first.before[0] : start;
    const otherFrom = first ? first.after[0] : otherStart;
    ranges.push({ same, before: [from, end], after: [otherFrom, otherEnd] });
  }
}

/** The common start and the common end of both lists in a range, and the rest between. */
function trimmed(before: Tokens, after: Tokens, range: Range): readonly [Range, Range, Range] {
  let [start, end, otherStart, otherEnd] = range;
  while (start < end && otherStart < otherEnd && before[start] === after[otherStart]) {
    start++;
    otherStart++;
  }
  while (start < end && otherStart < otherEnd && before[end - 1] === after[otherEnd - 1]) {
    end--;
    otherEnd--;
  }
  return [
    [range[0], start, range[2], otherStart],
    [start, end, otherStart, otherEnd],
    [end, range[1], otherEnd, range[3]],
  ];
}

type Anchor = readonly [at: number, otherAt: number];

/** Tokens that occur once in each of both ranges, as many as are in the same order. */
function anchorsOf(before: Tokens, after: Tokens, range: Range): readonly Anchor[] {
  const [start, end, otherStart, otherEnd] = range;
  const once = placesOfUnique(before, start, end);
  const otherOnce = placesOfUnique(after, otherStart, otherEnd);
  const pairs: Anchor[] = [];
  for (const [token, at] of once) {
    const otherAt = otherOnce.get(token);
    if (at >= 0 && otherAt !== undefined && otherAt >= 0) pairs.push([at, otherAt]);
  }
  return longestRising(pairs); // a map keeps the order of first places
}

/** The place of each token that occurs once, -1 for others. */
function placesOfUnique(list: Tokens, start: number, end: number): Map<number, number> {
  const places = new Map<number, number>();
  for (let at = start; at < end; at++) {
    const token = list[at] as number;
    places.set(token, places.has(token) ? -1 : at);
  }
  return places;
}

/** The longest list of pairs whose second places rise, of pairs whose first do. */
function longestRising(pairs: readonly Anchor[]): readonly Anchor[] {
  const ends: number[] = [];
  const previous = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, place], at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] as number] as Anchor)[1] < place) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[at] = ends[low - 1] as number;
    ends[low] = at;
  });
  const rising: Anchor[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] as number)
    rising.push(pairs[at] as Anchor);
  return rising.reverse();
}

/** The shortest edits of a range (E. Myers, 1986); undefined beyond the number of edits or the budget. */
function shortestEdits(
  before: Tokens,
  after: Tokens,
  [start, end, otherStart, otherEnd]: Range,
  maxEdits: number,
  budget: Budget,
): readonly (readonly [same: boolean, range: Range])[] | undefined {
  const [size, otherSize] = [end - start, otherEnd - otherStart];
  const most = Math.min(maxEdits, size + otherSize);
  const furthest = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    trace.push(furthest.slice(most + 1 - edits - 1, most + 1 + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      if (budget.work-- < 0) return undefined;
      const at = most + 1 + diagonal;
      const down = furthest[at + 1] as number;
      const right = (furthest[at - 1] as number) + 1;
      let x = diagonal === -edits || (diagonal !== edits && right <= down) ? down : right;
      let y = x - diagonal;
      while (x < size && y < otherSize && before[start + x] === after[otherStart + y]) {
        x++;
        y++;
      }
      furthest[at] = x;
      if (x >= size && y >= otherSize) return backtrack(trace, size, otherSize, start, otherStart);
    }
  }
  return undefined;
}

/** The edits that led to the end of both lists, from what was the furthest place of each diagonal before each edit. */
function backtrack(
  trace: readonly Int32Array[],
  size: number,
  otherSize: number,
  start: number,
  otherStart: number,
): readonly (readonly [same: boolean, range: Range])[] {
  const edits: (readonly [boolean, Range])[] = [];
  const add = (same: boolean, fromX: number, toX: number, fromY: number, toY: number): void => {
    const range: Range = [start + fromX, start + toX, otherStart + fromY, otherStart + toY];
    if (fromX < toX || fromY < toY) edits.push([same, range]);
  };
  let [x, y] = [size, otherSize];
  for (let count = trace.length - 1; count > 0; count--) {
    const furthest = trace[count] as Int32Array;
    const middle = count + 1;
    const diagonal = x - y;
    const down = furthest[middle + diagonal + 1] as number;
    const right = (furthest[middle + diagonal - 1] as number) + 1;
    const isDown = diagonal === -count || (diagonal !== count && right <= down);
    const [editX, editY] = isDown ? [down, down - diagonal] : [right, right - diagonal];
    add(true, editX, x, editY, y);
    const [fromX, fromY] = isDown ? [editX, editY - 1] : [editX - 1, editY];
    add(false, fromX, editX, fromY, editY);
    [x, y] = [fromX, fromY];
  }
  add(true, 0, x, 0, y);
  return edits.reverse();
}
