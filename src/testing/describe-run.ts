import { onOneLine } from './span-attributes.js';
import { spanColumns } from './span-columns.js';
import { eventLine } from './span-event-line.js';
import type { SpanEvent, SpanLike, SpanTime } from './span-like.js';
import { compareTimes } from './span-time.js';
import { spanTrees, type SpanNode } from './span-tree.js';

/** The columns of a line: the name, and what is told beside it. */
type Row = readonly [name: string, ...columns: string[]];

/** A longer name pushes its own line to the right, not all lines. */
const MAX_NAME_WIDTH = 60;
const MAX_LENGTH = 200;
/** Characters. What is deeper is not indented further. */
const MAX_INDENT = 150;

/**
 * Tells of spans as a text: each turn a tree, with times, tokens and what went wrong. Takes those of a `RecordingTracer` and those of an SDK
 * of OpenTelemetry, 1 or 2, spans of others among them. `own` is the time of an advisor without that of what follows it.
 */
export function describeRun(spans: readonly SpanLike[]): string {
  const trees = spanTrees(spans).map(rowsOf);
  return aligned(trees.flatMap((rows, index) => (index === 0 ? rows : [[''], ...rows])));
}

/** The lines of a tree. By a loop: what is looked at may be calls that call themselves without end. */
function rowsOf(root: SpanNode): Row[] {
  const rows: Row[] = [];
  const ahead: Branch[] = [{ child: root, before: '', beforeParts: '' }];
  for (let next = ahead.pop(); next; next = ahead.pop()) {
    const { child, event = '', before, beforeParts } = next;
    rows.push(child ? [before + onOneLine(child.span.name, MAX_LENGTH), ...spanColumns(child)] : [before + event]);
    if (child) for (const branch of branchesOf(child, beforeParts)) ahead.push(branch);
  }
  return rows;
}

/** A part of a span and what stands before its line, and before those of its own parts. */
interface Branch extends Omit<Part, 'at'> {
  readonly before: string;
  readonly beforeParts: string;
}

/** The last comes first. */
function branchesOf(node: SpanNode, indent: string): readonly Branch[] {
  const branches = partsOf(node).map((part, index, { length }) => {
    const isLast = index === length - 1;
    const beforeParts = indent.length < MAX_INDENT ? indent + (isLast ? '   ' : '│  ') : indent;
    return { ...part, before: indent + (isLast ? '└─ ' : '├─ '), beforeParts };
  });
  return branches.toReversed();
}

interface Part {
  readonly at: SpanTime;
  readonly event?: string;
  readonly child?: SpanNode;
}

/** What happened within a span, in order. A retry that is as early as what it leads to comes first. */
function partsOf({ span, children }: SpanNode): readonly Part[] {
  const told = (event: SpanEvent): Part[] => {
    const line = eventLine(event, span);
    return line === undefined ? [] : [{ at: event.time, event: line }];
  };
  const parts = [...(span.events ?? []).flatMap(told), ...children.map((child) => ({ at: child.span.startTime, child }))];
  return parts.toSorted((one, other) => compareTimes(one.at, other.at));
}

function aligned(rows: readonly Row[]): string {
  const [nameWidth = 0, ...widths] = widthsOf(rows);
  const line = ([name, ...columns]: Row): string => {
    // times and counts end where those above them end; the last column is words
    const padded = columns.map((text, index) => (index < columns.length - 1 ? text.padStart(widths[index] ?? 0) : text));
    const filled = padded.filter((_text, index) => widths[index] !== 0);
    return [name.padEnd(Math.min(nameWidth, MAX_NAME_WIDTH)), ...filled].join('  ').trimEnd();
  };
  return rows.map(line).join('\n');
}

/** What is a name alone may be as long as it likes. */
function widthsOf(rows: readonly Row[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) if (row.length > 1) row.forEach((text, column) => (widths[column] = Math.max(widths[column] ?? 0, text.length)));
  return widths;
}
