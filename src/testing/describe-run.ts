import { Attribute, EventName } from '../observability/names.js';
import {
  eventLine,
  millisecondsOf,
  onOneLine,
  spanColumns,
  type SpanEvent,
  type SpanIds,
  type SpanLike,
} from './span-line.js';

/** A span and its children, in the order in which they began. */
interface SpanNode {
  readonly span: SpanLike;
  readonly children: SpanNode[];
}

/** A child span or an event of a span. */
interface Part {
  readonly at: number;
  readonly node?: SpanNode;
  readonly event?: string;
}

/** A line of a tree with the text before it, and the text before the lines below it. */
interface Branch extends Part {
  readonly prefix: string;
  readonly indent: string;
}

type Row = readonly [name: string, ...columns: string[]];

/** A longer name moves the columns of its own line only. */
const MAX_NAME_WIDTH = 60;
const MAX_NAME_LENGTH = 200;
/** Characters; deeper spans are not indented further. */
const MAX_INDENT = 150;

/**
 * Prints spans as text: a tree for each turn, with durations, tokens and outcomes. Accepts spans of
 * a `RecordingTracer` and of an OpenTelemetry SDK, 1 or 2, among them spans of other libraries.
 * `own` is the time of an advisor without the rest of the chain.
 */
export function describeRun(spans: readonly SpanLike[]): string {
  const trees = spanTrees(spans).map(rowsOf);
  return aligned(trees.flatMap((rows, index) => (index === 0 ? rows : [[''], ...rows])));
}

/** The trees of spans, in the order in which they began. A span without its parent is a root. */
function spanTrees(spans: readonly SpanLike[]): readonly SpanNode[] {
  const inOrder = spans.toSorted(
    (one, other) => millisecondsOf(one.startTime) - millisecondsOf(other.startTime),
  );
  const nodes = inOrder.map((span): SpanNode => ({ span, children: [] }));
  const byId = new Map(nodes.map((node) => [keyOf(node.span.spanContext()), node]));
  return nodes.filter((node) => {
    const parent = byId.get(parentKeyOf(node.span));
    parent?.children.push(node);
    return !parent;
  });
}

function keyOf({ traceId, spanId }: SpanIds): string {
  return `${traceId} ${spanId}`;
}

function parentKeyOf(span: SpanLike): string {
  const { parentSpanContext, parentSpanId = '' } = span;
  return keyOf(parentSpanContext ?? { traceId: span.spanContext().traceId, spanId: parentSpanId });
}

/** The lines of a tree. A loop, since a recursive call chain may be very deep. */
function rowsOf(root: SpanNode): readonly Row[] {
  const rows: Row[] = [];
  const pending: Branch[] = [{ at: 0, node: root, prefix: '', indent: '' }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, event = '', prefix, indent } = next;
    rows.push(node ? rowOf(node.span, prefix) : [prefix + event]);
    if (node) for (const branch of branchesOf(node, indent).toReversed()) pending.push(branch);
  }
  return rows;
}

function rowOf(span: SpanLike, prefix: string): Row {
  return [prefix + onOneLine(span.name, MAX_NAME_LENGTH), ...spanColumns(span)];
}

function branchesOf(node: SpanNode, indent: string): readonly Branch[] {
  return partsOf(node).map((part, index, { length }) => {
    const [branch, line] = index === length - 1 ? ['└─ ', '   '] : ['├─ ', '│  '];
    const below = indent.length < MAX_INDENT ? indent + line : indent;
    return { ...part, prefix: indent + branch, indent: below };
  });
}

/**
 * Events and children in order. An event comes before a child of the same time, such as a retry
 * before its attempt.
 */
function partsOf({ span, children }: SpanNode): readonly Part[] {
  const events = (span.events ?? []).filter(addsToSpan).map((event) => {
    return { at: millisecondsOf(event.time), event: eventLine(event) };
  });
  const nodes = children.map((node) => ({ at: millisecondsOf(node.span.startTime), node }));
  return [...events, ...nodes].toSorted((one, other) => one.at - other.at);
}

/** False for an exception without a message: its type is on the line of the span. */
function addsToSpan({ name, attributes }: SpanEvent): boolean {
  return name !== EventName.EXCEPTION || attributes?.[Attribute.EXCEPTION_MESSAGE] !== undefined;
}

function aligned(rows: readonly Row[]): string {
  const [nameWidth = 0, ...widths] = widthsOf(rows);
  const line = ([name, ...columns]: Row): string => {
    // durations and counts are aligned to the right; the last column is text
    const padded = columns.map((text, index) =>
      index < columns.length - 1 ? text.padStart(widths[index] ?? 0) : text,
    );
    const filled = padded.filter((_text, index) => widths[index] !== 0);
    return [name.padEnd(Math.min(nameWidth, MAX_NAME_WIDTH)), ...filled].join('  ').trimEnd();
  };
  return rows.map(line).join('\n');
}

/** The widths of the columns; rows with a name only do not count. */
function widthsOf(rows: readonly Row[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows)
    if (row.length > 1)
      row.forEach((text, column) => (widths[column] = Math.max(widths[column] ?? 0, text.length)));
  return widths;
}
