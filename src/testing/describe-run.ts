import { truncate } from '../core/internal/text.js';
import { Attribute, EventName, Operation } from '../core/observation/names.js';

/** Seconds since 1970 and nanoseconds. */
export type SpanTime = readonly [seconds: number, nanoseconds: number];

/** The identity of a span. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** An event of a span. */
export interface SpanEvent {
  readonly name: string;
  readonly time: SpanTime;
  readonly attributes?: Attributes;
}

/** A span as the SDKs of OpenTelemetry pass it to exporters. */
export interface SpanLike {
  readonly name: string;
  readonly startTime: SpanTime;
  readonly endTime?: SpanTime | undefined;
  /** @default true if there is an `endTime` */
  readonly ended?: boolean | undefined;
  readonly attributes?: Attributes;
  /** Code 2 is an error. */
  readonly status?: { readonly code: number; readonly message?: string | undefined } | undefined;
  readonly events?: readonly SpanEvent[] | undefined;
  readonly spanContext: () => SpanIds;
  /** Of SDK 2. */
  readonly parentSpanContext?: SpanIds | undefined;
  /** Of SDK 1. */
  readonly parentSpanId?: string | undefined;
}

/** Attributes of other libraries too, so their values may be of any type. */
type Attributes = Readonly<Record<string, unknown>> | null | undefined;

/** The columns of a span: name, duration, input tokens, output tokens, details; or a name only. */
type Row = readonly [name: string, ...columns: string[]];

/** A span or an event, with the text before its line and before the lines below it. */
interface Part {
  readonly row: Row;
  readonly span?: SpanLike;
  readonly prefix: string;
  readonly indent: string;
}

const ERROR_STATUS = 2;
/** Characters of a name, an event or details. */
const MAX_LENGTH = 200;
/** A longer name moves the columns of its own line only. */
const MAX_NAME_WIDTH = 60;
/** Characters; deeper spans are not indented further. */
const MAX_INDENT = 150;
const MILLISECONDS = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  signDisplay: 'negative',
});
const COUNT = new Intl.NumberFormat('en-US');

/**
 * Prints spans as text: a tree for each turn, with durations, tokens and outcomes. Accepts spans of
 * a `RecordingTracer` and of an OpenTelemetry SDK, 1 or 2, among them spans of other libraries.
 * `own` is the time of an advisor without the rest of the chain.
 */
export function describeRun(spans: readonly SpanLike[]): string {
  const inOrder = spans.toSorted(
    (one, other) => millisecondsOf(one.startTime) - millisecondsOf(other.startTime),
  );
  const children = new Map(inOrder.map((span) => [spanKey(span.spanContext()), [] as SpanLike[]]));
  // a span without its parent is a root
  const roots = inOrder.filter((span) => {
    const siblings = children.get(parentKeyOf(span));
    siblings?.push(span);
    return !siblings;
  });
  const rows: Row[] = [];
  const pending: Part[] = roots.toReversed().map((span) => {
    return { row: rowOf(span), span, prefix: '', indent: '' };
  });
  // a loop, since a recursive call chain may be very deep
  for (let part = pending.pop(); part; part = pending.pop()) {
    const { row, span, prefix, indent } = part;
    const [name, ...columns] = row;
    if (prefix === '' && rows.length > 0) rows.push(['']);
    rows.push([prefix + name, ...columns]);
    if (!span) continue;
    const key = spanKey(span.spanContext());
    for (const below of spanParts(span, children.get(key) ?? [], indent).toReversed())
      pending.push(below);
    children.delete(key);
  }
  return aligned(rows);
}

function spanKey({ traceId, spanId }: SpanIds): string {
  return `${traceId} ${spanId}`;
}

function parentKeyOf(span: SpanLike): string {
  const { parentSpanContext, parentSpanId = '' } = span;
  return spanKey(
    parentSpanContext ?? { traceId: span.spanContext().traceId, spanId: parentSpanId },
  );
}

/**
 * Events and children in order. An event comes before a child of the same time, such as a retry
 * before its attempt.
 */
function spanParts(span: SpanLike, children: readonly SpanLike[], indent: string): readonly Part[] {
  const events = (span.events ?? []).filter(addsToSpan).map((event) => {
    return { at: millisecondsOf(event.time), row: [eventLine(event)] as const };
  });
  const spans = children.map((child) => {
    return { at: millisecondsOf(child.startTime), row: rowOf(child), span: child };
  });
  const parts = [...events, ...spans].toSorted((one, other) => one.at - other.at);
  return parts.map((part, index) => {
    const [branch, line] = index === parts.length - 1 ? ['└─ ', '   '] : ['├─ ', '│  '];
    const below = indent.length < MAX_INDENT ? indent + line : indent;
    return { ...part, prefix: indent + branch, indent: below };
  });
}

/** False for an exception without a message: its type is on the line of the span. */
function addsToSpan({ name, attributes }: SpanEvent): boolean {
  return name !== EventName.EXCEPTION || attributes?.[Attribute.EXCEPTION_MESSAGE] !== undefined;
}

/** An event with its attributes, such as `* retry: type 429, attempt 1`. */
function eventLine({ name, attributes }: SpanEvent): string {
  const details = Object.entries(attributes ?? {})
    .filter(([key]) => key !== Attribute.EXCEPTION_STACKTRACE)
    .map(([key, value]) => `${key.split('.').at(-1)} ${formatAttribute(value)}`);
  const text = [`* ${name.replace('advisor_chain.', '')}`, details.join(', ')];
  return onOneLine(text.filter(Boolean).join(': '));
}

function rowOf(span: SpanLike): Row {
  const { name, attributes, startTime, endTime, ended = Boolean(endTime) } = span;
  const number = (key: string, format: (value: number) => string): string => {
    const value = attributes?.[key];
    return typeof value === 'number' && Number.isFinite(value) ? format(value) : '';
  };
  const details = [
    number(Attribute.TURN_ITERATIONS, (count) => counted(count, 'iteration')),
    number(Attribute.TURN_TOOL_CALLS, (count) => counted(count, 'tool call')),
    formatAttribute(attributes?.[Attribute.RESPONSE_FINISH_REASONS]),
    number(Attribute.RESPONSE_TIME_TO_FIRST_CHUNK, (time) => `first chunk ${inMilliseconds(time)}`),
    number(Attribute.ADVISOR_EXCLUSIVE_TIME, (time) => `own ${inMilliseconds(time)}`),
    outcomeOf(span),
  ];
  return [
    onOneLine(name),
    ended ? inMilliseconds((millisecondsOf(endTime) - millisecondsOf(startTime)) / 1e3) : 'open',
    number(Attribute.USAGE_INPUT_TOKENS, (count) => `${COUNT.format(count)} in`),
    number(Attribute.USAGE_OUTPUT_TOKENS, (count) => `${COUNT.format(count)} out`),
    onOneLine(details.filter(Boolean).join(', ')),
  ];
}

/**
 * The outcome and its reason. Success is printed for tools only: other spans have a finish reason.
 */
function outcomeOf({ attributes, status }: SpanLike): string {
  const hasFailed = status?.code === ERROR_STATUS;
  const outcome = formatAttribute(attributes?.[Attribute.OUTCOME]) || (hasFailed ? 'error' : '');
  const message = hasFailed ? formatAttribute(status.message) : '';
  const reason = formatAttribute(attributes?.[Attribute.ERROR_TYPE]) || message;
  const isTool = attributes?.[Attribute.OPERATION_NAME] === Operation.EXECUTE_TOOL;
  const printed = outcome === 'success' && !isTool ? '' : outcome;
  return [...new Set([printed, reason])].filter(Boolean).join(' ');
}

/** Aligns durations and counts to the right, names and details to the left. */
function aligned(rows: readonly Row[]): string {
  const widths: number[] = [];
  for (const row of rows)
    if (row.length > 1)
      row.forEach((text, column) => (widths[column] = Math.max(widths[column] ?? 0, text.length)));
  const line = ([name, ...columns]: Row): string => {
    const padded = columns.map((text, index) => {
      const width = widths[index + 1] ?? 0;
      return index < columns.length - 1 ? text.padStart(width) : text;
    });
    const used = padded.filter((_text, index) => widths[index + 1] !== 0);
    return [name.padEnd(Math.min(widths[0] ?? 0, MAX_NAME_WIDTH)), ...used].join('  ').trimEnd();
  };
  return rows.map(line).join('\n');
}

/** Milliseconds since 1970; 0 for a missing time, since spans may come from other libraries. */
function millisecondsOf(time: SpanTime | null | undefined): number {
  return time ? time[0] * 1e3 + time[1] / 1e6 : 0;
}

function inMilliseconds(seconds: number): string {
  return `${MILLISECONDS.format(seconds * 1e3)} ms`;
}

function counted(count: number, thing: string): string {
  return `${COUNT.format(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** A string, a number or a list of them; '' if the value has none of these. */
function formatAttribute(value: unknown): string {
  const texts = [value].flat().filter((item) => ['string', 'number'].includes(typeof item));
  return texts.join(', ');
}

/** A text on one line, without control characters that would move the cursor of a terminal. */
function onOneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ');
  return line.length > MAX_LENGTH ? `${truncate(line, MAX_LENGTH)}…` : line;
}
