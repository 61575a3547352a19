import type { TimelineEntry } from '../inspected-turn.js';
import { cost, count, duration } from './parts/format.js';

/** A column of figures of the timeline. */
export interface Figure {
  readonly name: string;
  readonly isWide?: boolean;
  /** The figure of an entry; empty if it has none. */
  of(entry: TimelineEntry): string;
}

const FIGURES: readonly Figure[] = [
  {
    name: 'First token',
    of: ({ firstToken }) => (firstToken === undefined ? '' : duration(firstToken)),
  },
  {
    name: 'Tokens',
    isWide: true,
    of: ({ usage }) => (usage ? `${count(usage.inputTokens)} → ${count(usage.outputTokens)}` : ''),
  },
  { name: 'Cached', of: ({ usage }) => cachedShare(usage) },
  { name: 'Cost', of: (entry) => (entry.cost === undefined ? '' : cost(entry.cost)) },
];

/** The columns of which an entry of a timeline has a figure. */
export const figuresOf = (timeline: readonly TimelineEntry[]): readonly Figure[] =>
  FIGURES.filter((figure) => timeline.some((entry) => figure.of(entry) !== ''));

/** The share of the input that came from the cache of the provider; empty if it is unknown. */
export function cachedShare(usage: TimelineEntry['usage']): string {
  const { inputTokens = 0, cachedInputTokens } = usage ?? {};
  if (cachedInputTokens === undefined || inputTokens === 0) return '';
  return `${Math.round((cachedInputTokens / inputTokens) * 100)} %`;
}

/** The duration of an entry; empty while it lasts, and for a moment. */
export const lasting = ({ start, end }: TimelineEntry): string =>
  end === undefined || end === start ? '' : duration(end - start);
