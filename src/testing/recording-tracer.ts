import { Attribute, EventName } from '../core/observation/names.js';
import type { SpanEvent, SpanIds, SpanLike, SpanTime } from './describe-run.js';

/** A snapshot of a recorded span. */
export interface RecordedSpan extends SpanLike {
  /** `[0, 0]` while the span is open. */
  readonly endTime: SpanTime;
  readonly ended: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number; readonly message?: string | undefined };
  readonly events: readonly Required<SpanEvent>[];
  readonly parentSpanContext: SpanIds | undefined;
}

/** The part of `SpanOptions` of `@opentelemetry/api` that a {@link RecordingTracer} uses. */
export interface RecordingSpanOptions {
  readonly attributes?: object | undefined;
  /** @default now */
  readonly startTime?: SpanTimeInput | undefined;
  /** Makes the span a root, whatever span is active. @default false */
  readonly root?: boolean | undefined;
}

/** A number is milliseconds since 1970, or of `performance.now()`. */
type SpanTimeInput = SpanTime | Date | number;

/** An error as `Span.recordException` accepts it. */
type ExceptionLike = string | Partial<Error>;

/** A `Context` of `@opentelemetry/api`, which may not be installed. */
interface ContextLike {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): ContextLike;
}

/** A `ContextManager` of `@opentelemetry/api`. */
interface ContextManagerLike {
  active(): ContextLike;
  with<T>(context: ContextLike, work: () => T): T;
}

/** Keys that all copies of `@opentelemetry/api` 1.x share. */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/**
 * A `Tracer` of `@opentelemetry/api` that keeps its spans, so that tests and first steps need no
 * SDK: `new ObservabilityAdvisor({ tracer })`. Without samplers, processors and limits.
 * {@link describeRun} prints the spans.
 */
export class RecordingTracer {
  private recording: RecordingSpan[] = [];

  /** All spans so far, open ones included, in the order in which they began. */
  get spans(): readonly RecordedSpan[] {
    return this.recording.map(({ recorded }) => recorded);
  }

  /** Discards all spans, open ones included. */
  clear(): void {
    this.recording = [];
  }

  /** @param context contains the parent span, if any; @default the active context */
  startSpan(
    name: string,
    options: RecordingSpanOptions = {},
    context: ContextLike | undefined = contextManager()?.active(),
  ): RecordingSpan {
    const span = new RecordingSpan(name, options, options.root ? undefined : spanIn(context));
    this.recording.push(span);
    return span;
  }

  /** Runs the last argument with a new span that is active; it ends the span. */
  startActiveSpan<Work extends (span: RecordingSpan) => unknown>(
    name: string,
    ...rest: [Work] | [RecordingSpanOptions, Work] | [RecordingSpanOptions, ContextLike, Work]
  ): ReturnType<Work> {
    const work = rest.at(-1) as Work;
    const [options, context] = rest.slice(0, -1) as [RecordingSpanOptions?, ContextLike?];
    const span = this.startSpan(name, options, context);
    const run = (): ReturnType<Work> => work(span) as ReturnType<Work>;
    const manager = contextManager();
    if (!manager) return run();
    return manager.with((context ?? manager.active()).setValue(SPAN, span), run);
  }
}

/** A `Span` of `@opentelemetry/api`: immutable once it has ended; without links. */
export class RecordingSpan {
  /** A snapshot; later changes make a new one. */
  recorded: RecordedSpan;
  private readonly ids;

  constructor(name: string, options: RecordingSpanOptions, parent: SpanIds | undefined) {
    const traceId = parent?.traceId ?? randomHex(32);
    this.ids = { traceId, spanId: randomHex(16), traceFlags: 1 };
    this.recorded = {
      name,
      startTime: toSpanTime(options.startTime),
      endTime: [0, 0],
      ended: false,
      attributes: { ...options.attributes },
      status: { code: 0 },
      events: [],
      spanContext: () => this.ids,
      parentSpanContext: parent,
    };
  }

  spanContext(): SpanIds & { readonly traceFlags: number } {
    return this.ids;
  }

  isRecording(): boolean {
    return !this.recorded.ended;
  }

  setAttribute(name: string, value: unknown): this {
    return this.setAttributes({ [name]: value });
  }

  setAttributes(attributes: object): this {
    return this.change({ attributes: { ...this.recorded.attributes, ...attributes } });
  }

  addEvent(name: string, attributesOrTime?: object | number, time?: SpanTimeInput): this {
    if (isTimeInput(attributesOrTime)) return this.addEvent(name, {}, attributesOrTime);
    const event = { name, time: toSpanTime(time), attributes: { ...attributesOrTime } };
    return this.change({ events: [...this.recorded.events, event] });
  }

  recordException(exception: ExceptionLike, time?: SpanTimeInput): void {
    const { name, message, stack } =
      typeof exception === 'string' ? { message: exception } : exception;
    const attributes = {
      ...(name !== undefined && { [Attribute.EXCEPTION_TYPE]: name }),
      ...(message !== undefined && { [Attribute.EXCEPTION_MESSAGE]: message }),
      ...(stack !== undefined && { [Attribute.EXCEPTION_STACKTRACE]: stack }),
    };
    this.addEvent(EventName.EXCEPTION, attributes, time);
  }

  setStatus(status: RecordedSpan['status']): this {
    return this.change({ status });
  }

  updateName(name: string): this {
    return this.change({ name });
  }

  addLink(_link: object): this {
    return this;
  }

  addLinks(_links: readonly object[]): this {
    return this;
  }

  end(time?: SpanTimeInput): void {
    this.change({ endTime: toSpanTime(time), ended: true });
  }

  private change(changes: Partial<RecordedSpan>): this {
    if (this.isRecording()) this.recorded = { ...this.recorded, ...changes };
    return this;
  }
}

function contextManager(): ContextManagerLike | undefined {
  const globals = globalThis as {
    readonly [key: symbol]: { readonly context?: ContextManagerLike } | undefined;
  };
  return globals[REGISTRY]?.context;
}

/** The span of a context, unless it records nothing: then its ids are zeros. */
function spanIn(context: ContextLike | undefined): SpanIds | undefined {
  const span = context?.getValue(SPAN) as { spanContext(): SpanIds } | undefined;
  const { traceId = '0', spanId = '0' } = span?.spanContext() ?? {};
  return /[^0]/.test(traceId) && /[^0]/.test(spanId) ? { traceId, spanId } : undefined;
}

function randomHex(length: number): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, length);
}

function isTimeInput(value: object | number | undefined): value is SpanTimeInput {
  return typeof value === 'number' || value instanceof Date || Array.isArray(value);
}

function toSpanTime(time: SpanTimeInput = performance.now()): SpanTime {
  if (typeof time === 'object' && !(time instanceof Date)) return time;
  // the rule of the SDK: a number before this process began is of performance.now()
  const isRelative = typeof time === 'number' && time < performance.timeOrigin;
  const milliseconds = Number(time) + (isRelative ? performance.timeOrigin : 0);
  return [Math.floor(milliseconds / 1e3), Math.floor((milliseconds % 1e3) * 1e6)];
}
