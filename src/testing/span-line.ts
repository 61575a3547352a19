import { truncate } from '../internal/text.js';
import { Attribute, Operation } from '../observability/names.js';

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

const ERROR_STATUS = 2;
const MAX_DETAILS_LENGTH = 300;
const MAX_EVENT_LENGTH = 200;
const MILLISECONDS = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  signDisplay: 'negative',
});
const COUNT = new Intl.NumberFormat('en-US');

/** The columns after the name: duration, input tokens, output tokens and details. */
export function spanColumns(span: SpanLike): readonly string[] {
  const { attributes, startTime, endTime, ended = Boolean(endTime) } = span;
  const count = (name: string, thing: string): string => countOf(attributes, name, thing);
  return [
    ended ? milliseconds(millisecondsOf(endTime) - millisecondsOf(startTime)) : 'open',
    count(Attribute.USAGE_INPUT_TOKENS, 'in'),
    count(Attribute.USAGE_OUTPUT_TOKENS, 'out'),
    detailsOf(span),
  ];
}

function detailsOf(span: SpanLike): string {
  const { attributes } = span;
  const counted = (name: string, thing: string): string =>
    countOf(attributes, name, attributes?.[name] === 1 ? thing : `${thing}s`);
  const seconds = (name: string, label: string): string => {
    const time = numberIn(attributes, name);
    return time === undefined ? '' : `${label} ${milliseconds(time * 1e3)}`;
  };
  const details = [
    counted(Attribute.TURN_ITERATIONS, 'iteration'),
    counted(Attribute.TURN_TOOL_CALLS, 'tool call'),
    textOf(attributes?.[Attribute.RESPONSE_FINISH_REASONS]),
    seconds(Attribute.RESPONSE_TIME_TO_FIRST_CHUNK, 'first chunk'),
    seconds(Attribute.ADVISOR_EXCLUSIVE_TIME, 'own'),
    outcomeOf(span),
  ];
  return onOneLine(details.filter(Boolean).join(', '), MAX_DETAILS_LENGTH);
}

/**
 * The outcome and its reason. Success is printed for tools only: other spans have a finish reason.
 */
function outcomeOf({ attributes, status }: SpanLike): string {
  const hasFailed = status?.code === ERROR_STATUS;
  const outcome = textOf(attributes?.[Attribute.OUTCOME]) || (hasFailed ? 'error' : '');
  const message = hasFailed ? textOf(status.message) : '';
  const reason = textOf(attributes?.[Attribute.ERROR_TYPE]) || message;
  const isTool = attributes?.[Attribute.OPERATION_NAME] === Operation.EXECUTE_TOOL;
  const printed = outcome === 'success' && !isTool ? '' : outcome;
  return [...new Set([printed, reason])].filter(Boolean).join(' ');
}

/** An event with its attributes, such as `* retry: type 429, attempt 1`. */
export function eventLine({ name, attributes }: SpanEvent): string {
  const details = Object.entries(attributes ?? {})
    .filter(([key]) => key !== Attribute.EXCEPTION_STACKTRACE)
    .map(([key, value]) => `${key.split('.').at(-1)} ${textOf(value)}`);
  const text = [`* ${name.replace('advisor_chain.', '')}`, details.join(', ')];
  return onOneLine(text.filter(Boolean).join(': '), MAX_EVENT_LENGTH);
}

/** Milliseconds since 1970; 0 for a missing time, since spans may be those of other libraries. */
export function millisecondsOf(time: SpanTime | null | undefined): number {
  return time ? time[0] * 1e3 + time[1] / 1e6 : 0;
}

function countOf(attributes: Attributes, name: string, thing: string): string {
  const count = numberIn(attributes, name);
  return count === undefined ? '' : `${COUNT.format(count)} ${thing}`;
}

function numberIn(attributes: Attributes, name: string): number | undefined {
  const value = attributes?.[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A string, a number or a list of them; '' if the value has none of these. */
function textOf(value: unknown): string {
  const texts = [value]
    .flat()
    .filter((item) => typeof item === 'string' || typeof item === 'number');
  return texts.join(', ');
}

/** A text on one line, without control characters that would move the cursor of a terminal. */
export function onOneLine(text: unknown, maxLength: number): string {
  const line = String(text).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ');
  return line.length > maxLength ? `${truncate(line, maxLength)}…` : line;
}

function milliseconds(time: number): string {
  return `${MILLISECONDS.format(time)} ms`;
}
