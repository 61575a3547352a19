import { Attribute, EventName } from '../observability/names.js';
import type { SpanEvent, SpanIds, SpanLike, SpanTime } from './span-like.js';
import { toSpanTime, type SpanTimeInput } from './span-time.js';

/** What was recorded of a span: plain data, and no part of what may yet come. */
export interface RecordedSpan extends SpanLike {
  /** Both 0 while the span is open. */
  readonly endTime: SpanTime;
  readonly ended: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number; readonly message?: string | undefined };
  readonly events: readonly Required<SpanEvent>[];
  readonly parentSpanContext: SpanIds | undefined;
}

/** An error as spans take it. */
type ExceptionLike = string | { readonly name?: string; readonly message?: string; readonly stack?: string };

/** A span of a `RecordingTracer`; what `@opentelemetry/api` calls a `Span`. Takes nothing more once it has ended. Links are not kept. */
export class RecordingSpan {
  private attributes: Readonly<Record<string, unknown>>;
  private readonly startTime: SpanTime;
  private endTime: SpanTime | undefined;
  private status: RecordedSpan['status'] = { code: 0 };
  private events: readonly Required<SpanEvent>[] = [];

  constructor(
    private name: string,
    private readonly ids: SpanIds,
    private readonly parent: SpanIds | undefined,
    options: { readonly attributes?: object | undefined; readonly startTime?: SpanTimeInput | undefined },
  ) {
    this.attributes = { ...options.attributes };
    this.startTime = toSpanTime(options.startTime);
  }

  /** What there is of it by now. */
  get recorded(): RecordedSpan {
    const { name, startTime, endTime = [0, 0], attributes, status, events, parent } = this;
    const spanContext = () => this.spanContext();
    return { name, startTime, endTime, ended: !this.isRecording(), attributes, status, events, spanContext, parentSpanContext: parent };
  }

  spanContext(): SpanIds & { readonly traceFlags: number } {
    return { ...this.ids, traceFlags: 1 };
  }

  isRecording(): boolean {
    return this.endTime === undefined;
  }

  setAttribute(name: string, value: unknown): this {
    return this.setAttributes({ [name]: value });
  }

  setAttributes(attributes: object): this {
    return this.change(() => (this.attributes = { ...this.attributes, ...attributes }));
  }

  addEvent(name: string, attributesOrTime?: object | number, time?: SpanTimeInput): this {
    const isTime = typeof attributesOrTime === 'number' || attributesOrTime instanceof Date || Array.isArray(attributesOrTime);
    if (isTime) return this.addEvent(name, {}, attributesOrTime as SpanTimeInput);
    const event = { name, time: toSpanTime(time), attributes: { ...(attributesOrTime as object | undefined) } };
    return this.change(() => (this.events = [...this.events, event]));
  }

  recordException(exception: ExceptionLike, time?: SpanTimeInput): void {
    const { name, message, stack } = typeof exception === 'string' ? { message: exception } : exception;
    const attributes = {
      ...(name !== undefined && { [Attribute.EXCEPTION_TYPE]: name }),
      ...(message !== undefined && { [Attribute.EXCEPTION_MESSAGE]: message }),
      ...(stack !== undefined && { [Attribute.EXCEPTION_STACKTRACE]: stack }),
    };
    this.addEvent(EventName.EXCEPTION, attributes, time);
  }

  setStatus(status: RecordedSpan['status']): this {
    return this.change(() => (this.status = status));
  }

  updateName(name: string): this {
    return this.change(() => (this.name = name));
  }

  addLink(_link: object): this {
    return this;
  }

  addLinks(_links: readonly object[]): this {
    return this;
  }

  end(time?: SpanTimeInput): void {
    this.change(() => (this.endTime = toSpanTime(time)));
  }

  private change(change: () => void): this {
    if (this.isRecording()) change();
    return this;
  }
}
