import type { InspectedTurn, TimelineEntry } from '../../bridges/inspector/index.js';
import { inOneLine, printable } from './screen.js';

const NAME_WIDTH = 44;

/** The timeline of a turn as a tree, a line for each part. */
export function describeTimeline(turn: InspectedTurn): string {
  const children = new Map<number | undefined, TimelineEntry[]>();
  for (const entry of turn.timeline) {
    const siblings = children.get(entry.parent) ?? [];
    children.set(entry.parent, [...siblings, entry]);
  }
  const lines: string[] = [];
  // a stack, since parts may be nested deeply
  const pending = (children.get(undefined) ?? []).map((entry) => ({ entry, depth: 0 })).reverse();
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { entry, depth } = next;
    lines.push(lineOf(entry, depth));
    const below = (children.get(entry.id) ?? []).map((each) => ({ entry: each, depth: depth + 1 }));
    pending.push(...below.reverse());
  }
  return [`turn ${turn.outcome}, ${milliseconds(turn.duration)}`, ...lines].join('\n');
}

function lineOf(
  { kind, name, start, end, outcome, usage, firstToken }: TimelineEntry,
  depth: number,
): string {
  const indent = '  '.repeat(Math.min(depth, 10));
  const title = indent + inOneLine(printable(`${kind} ${name}`), NAME_WIDTH - indent.length);
  const details = [
    end === undefined ? 'open' : milliseconds(end - start),
    usage && `${usage.inputTokens} in, ${usage.outputTokens} out`,
    firstToken !== undefined && `first chunk ${milliseconds(firstToken)}`,
    outcome !== 'ok' && outcome,
  ].filter(Boolean);
  return `${title.padEnd(NAME_WIDTH)}  ${details.join(', ')}`;
}

const milliseconds = (time: number | undefined): string =>
  time === undefined ? 'open' : `${time.toFixed(1)} ms`;
