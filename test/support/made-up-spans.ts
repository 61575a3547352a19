import type { SpanLike } from '../../src/testing/index.js';

/** The data of a span; times in milliseconds after the turn began. */
export interface MadeUpSpan {
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly error?: boolean;
  readonly events?: readonly MadeUpEvent[];
}

export interface MadeUpEvent {
  readonly name: string;
  readonly at: number;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** Spans of one trace in the form of SDK 2. */
export function madeUp(spans: readonly MadeUpSpan[], traceId = 'trace'): SpanLike[] {
  return spans.map(
    ({ id, parent, name, from, to, attributes = {}, error = false, events = [] }) => ({
      name,
      startTime: time(from),
      endTime: time(to),
      attributes,
      status: { code: error ? 2 : 0 },
      events: events.map((event) => ({ attributes: {}, ...event, time: time(event.at) })),
      spanContext: () => ({ traceId, spanId: id }),
      parentSpanContext: parent === undefined ? undefined : { traceId, spanId: parent },
    }),
  );
}

export function time(milliseconds: number): [number, number] {
  const seconds = Math.floor(milliseconds / 1_000);
  return [1_700_000_000 + seconds, Math.round((milliseconds - seconds * 1_000) * 1e6)];
}
