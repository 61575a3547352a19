/** Seconds since 1970 and nanoseconds, as OpenTelemetry keeps a time. */
export type SpanTime = readonly [seconds: number, nanoseconds: number];

/** Which span of which trace. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Something that happened within a span. */
export interface SpanEvent {
  readonly name: string;
  readonly time: SpanTime;
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
}

/** A span as the SDKs of OpenTelemetry give it to exporters; in words of its own, since none of them may be there. */
export interface SpanLike {
  readonly name: string;
  readonly startTime: SpanTime;
  readonly endTime?: SpanTime | undefined;
  /** @default true if there is an `endTime` */
  readonly ended?: boolean | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** The code is 2 where the span failed. */
  readonly status?: { readonly code: number; readonly message?: string | undefined } | undefined;
  readonly events?: readonly SpanEvent[] | undefined;
  readonly spanContext: () => SpanIds;
  /** Of SDK 2. */
  readonly parentSpanContext?: SpanIds | undefined;
  /** Of SDK 1. */
  readonly parentSpanId?: string | undefined;
}
