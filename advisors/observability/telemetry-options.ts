// Free of types of `@opentelemetry/api`, which may not be installed where an application compiles.

/** A `Tracer` of `@opentelemetry/api`. */
export interface TracerLike {
  startSpan(name: string, options?: object, context?: object): object;
}

/** A `Meter` of `@opentelemetry/api`. */
export interface MeterLike {
  createHistogram(name: string, options?: object): object;
  createCounter(name: string, options?: object): object;
}

/** Attributes that the application adds to a span, by name. */
export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

/** Kind of a recorded text. */
export type RecordedText =
  | 'message'
  | 'system-instructions'
  | 'tool-definition'
  | 'tool-arguments'
  | 'tool-result'
  | 'exception';

/** Removes from a text what must not be recorded; an empty result omits the text. */
export type Redact = (text: string, kind: RecordedText) => string;

/** Content that is recorded of a turn, and the instruments that record it. */
export interface TelemetryOptions {
  /** A `Tracer` of `@opentelemetry/api`. @default the registered one, looked up at each turn */
  readonly tracer?: TracerLike | undefined;
  /** A `Meter` of `@opentelemetry/api`. @default the registered one, looked up at each turn */
  readonly meter?: MeterLike | undefined;
  /**
   * Records content: messages, instructions, arguments, results, tool definitions and texts of
   * errors. @default false
   */
  readonly captureContent?: boolean | undefined;
  /** Removes from each content text what must not be recorded. @default no redaction */
  readonly redact?: Redact | undefined;
  /** Maximum characters of a recorded value, >= 1; lists stay valid JSON. @default 8_192 */
  readonly maxContentLength?: number | undefined;
}
