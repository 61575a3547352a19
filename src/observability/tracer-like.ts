// The words of `@opentelemetry/api` again, as far as options need them: that package may be absent where this one is compiled.

/** What `@opentelemetry/api` calls a `Tracer`. */
export interface TracerLike {
  startSpan(name: string, options?: object, context?: object): object;
  /** Whether it wants each span as it begins and ends, so that one sees what is open. @default false: it gets them together, see `docs/observability.md` */
  readonly isLive?: boolean | undefined;
}

/** What `@opentelemetry/api` calls a `Meter`. */
export interface MeterLike {
  createHistogram(name: string, options?: object): object;
  createCounter(name: string, options?: object): object;
}

/** Attributes that an application gives a span, by name. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
