import type { TurnSummary } from '../inspected-turn.js';

export const KINDS = ['failed', 'slow', 'costly', 'running'] as const;
export type FilterKind = (typeof KINDS)[number];

/** The filter of the list: a turn passes if it has the text and is of all the kinds. */
export interface Filter {
  /** In question, answer, conversation, model or error. */
  readonly text: string;
  readonly kinds: ReadonlySet<FilterKind>;
}

export const NO_FILTER: Filter = { text: '', kinds: new Set() };

/** A turn is slow or costly if it is among the upper tenth of those that are kept, and has something of it. */
const UPPER = 0.9;

/** The test of a filter. */
export function matches(
  { text, kinds }: Filter,
  all: readonly TurnSummary[],
): (turn: TurnSummary) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const slow = kinds.has('slow') ? upperBound(all.map(({ duration }) => duration)) : 0;
  const costly = kinds.has('costly') ? upperBound(all.map(costOf)) : 0;
  const tests: Record<FilterKind, (turn: TurnSummary) => boolean> = {
    failed: ({ outcome }) => outcome === 'failed' || outcome === 'cancelled',
    slow: ({ duration }) => (duration ?? 0) >= slow,
    costly: (turn) => (costOf(turn) ?? 0) >= costly,
    running: ({ outcome }) => outcome === 'running' || outcome === 'paused',
  };
  const chosen = [...kinds].map((kind) => tests[kind]);
  return (turn) => chosen.every((test) => test(turn)) && hasWords(turn, words);
}

/** Cost of a turn; tokens where prices are unknown. */
const costOf = ({ cost, usage }: TurnSummary): number | undefined => cost ?? usage?.totalTokens;

function upperBound(values: readonly (number | undefined)[]): number {
  const sorted = values.filter((value) => value !== undefined && value > 0).sort(ascending);
  return sorted[Math.floor(sorted.length * UPPER)] ?? Infinity;
}

const ascending = (one: number | undefined, other: number | undefined): number =>
  (one ?? 0) - (other ?? 0);

function hasWords(turn: TurnSummary, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { question, answer, conversationId, model, error, turnId } = turn;
  const parts = [question, answer, conversationId, model, error?.name, error?.message, turnId];
  const text = parts.join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
