import type { TimelineEntry } from '../inspected-turn.js';

/** An entry with its depth, in the order in which it is shown. */
export interface TimelineRow {
  readonly entry: TimelineEntry;
  readonly depth: number;
}

/** The rows of a timeline: each entry before its parts, by their start. An entry whose parent was dropped is a part of the turn. */
export function rowsOf(
  timeline: readonly TimelineEntry[],
  isShown: (entry: TimelineEntry) => boolean,
): readonly TimelineRow[] {
  const ids = new Set(timeline.map(({ id }) => id));
  const parts = new Map<number | undefined, TimelineEntry[]>();
  for (const entry of timeline) {
    const parent = entry.parent !== undefined && ids.has(entry.parent) ? entry.parent : undefined;
    const siblings = parts.get(parent);
    if (siblings) siblings.push(entry);
    else parts.set(parent, [entry]);
  }
  const rows: TimelineRow[] = [];
  const seen = new Set<number>();
  // A stack of its own: a file may nest its entries deeper than a call stack is.
  const waiting = reversed(parts.get(undefined)).map((entry) => ({ entry, depth: 0 }));
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    const { entry, depth } = row;
    if (seen.has(entry.id)) continue;
    seen.add(entry.id);
    const shown = isShown(entry);
    if (shown) rows.push(row);
    const below = shown ? depth + 1 : depth;
    for (const part of reversed(parts.get(entry.id))) waiting.push({ entry: part, depth: below });
  }
  return rows;
}

const reversed = (entries: readonly TimelineEntry[] = []): TimelineEntry[] =>
  entries.toSorted((one, other) => other.start - one.start || other.id - one.id);

/** Milliseconds from the start of a turn to its end, or to its last entry and now while it runs. */
export function lengthOf(
  timeline: readonly TimelineEntry[],
  duration: number | undefined,
  now: number,
): number {
  const last = timeline.reduce((max, { start, end }) => Math.max(max, start, end ?? 0), 0);
  return Math.max(1, last, duration ?? now);
}

/** The place of an entry on an axis, in percent. */
export function barOf({ start, end }: TimelineEntry, length: number) {
  const left = clamp((start / length) * 100);
  const width = clamp((((end ?? length) - start) / length) * 100, 100 - left);
  return { left, width };
}

const clamp = (value: number, max = 100): number => Math.min(max, Math.max(0, value));
