import type { InspectedTurn, TimelineEntry } from '../../inspected-turn.js';
import { cost, duration } from '../parts/format.js';

/** A figure of two turns; undefined where a turn has none. */
export interface Figure {
  readonly name: string;
  readonly values: readonly [string | undefined, string | undefined];
  /** Such as `+12 %`; absent if they are equal, or have no number. */
  readonly difference?: string;
}

/** The figures of two turns: time, tokens, cost, and what was called. */
export function figuresOf(left: InspectedTurn, right: InspectedTurn): readonly Figure[] {
  const text = (name: string, valueOf: (turn: InspectedTurn) => string | undefined): Figure => ({
    name,
    values: [valueOf(left), valueOf(right)],
  });
  const number = (
    name: string,
    valueOf: (turn: InspectedTurn) => number | undefined,
    format: (value: number) => string = (value) => value.toLocaleString('en'),
  ): Figure => {
    const values = [valueOf(left), valueOf(right)] as const;
    const [a, b] = values.map((value) => (value === undefined ? undefined : format(value)));
    const difference = differenceOf(...values, format);
    return { name, values: [a, b], ...(difference !== undefined && { difference }) };
  };
  const all = [
    text('Outcome', ({ outcome }) => outcome),
    text('Model', ({ model }) => model),
    number('Duration', (turn) => turn.duration, duration),
    number('To the first text', (turn) => turn.firstToken, duration),
    number('in models', (turn) => timeOf(turn, 'model-call'), duration),
    number('in tools', (turn) => timeOf(turn, 'tool-call'), duration),
    number('in waits', (turn) => timeOf(turn, 'wait'), duration),
    number('Iterations', ({ iterations }) => iterations),
    number('Calls of the model', ({ requests }) => requests.length),
    number('Tool calls', ({ toolCalls }) => toolCalls),
    number('Tokens in', ({ usage }) => usage?.inputTokens),
    number('from cache', ({ usage }) => usage?.cachedInputTokens),
    number('Tokens out', ({ usage }) => usage?.outputTokens),
    number('Cost', (turn) => turn.cost, cost),
  ];
  return all.filter(({ values }) => values.some((value) => value !== undefined));
}

function differenceOf(
  left: number | undefined,
  right: number | undefined,
  format: (value: number) => string,
): string | undefined {
  if (left === undefined || right === undefined || left === right) return undefined;
  const sign = right > left ? '+' : '−';
  const by = Math.abs(right - left);
  if (left === 0) return `${sign}${format(by)}`;
  const percent = Math.round((100 * by) / Math.abs(left));
  return percent === 0 ? `${sign}${format(by)}` : `${sign}${percent.toLocaleString('en')} %`;
}

/** Milliseconds of the entries of a kind; times that overlap count once. */
function timeOf({ timeline }: InspectedTurn, kind: TimelineEntry['kind']): number | undefined {
  const spans = timeline
    .filter((entry) => entry.kind === kind && entry.end !== undefined)
    .map(({ start, end = start }) => [start, end] as const)
    .toSorted(([one], [other]) => one - other);
  if (spans.length === 0) return undefined;
  let [sum, reached] = [0, -Infinity];
  for (const [start, end] of spans) {
    sum += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return sum;
}
