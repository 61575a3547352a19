import type { Attributes, Context, Meter, Span, SpanStatus, Tracer } from '@opentelemetry/api';
import type { ChatEvent } from '../chat/chat-event.js';
import { Subscriber } from '../internal/rxjs.js';
import { truncate } from '../internal/text.js';
import { AttributeSet } from './attributes.js';
import { ContentCapture } from './content-capture.js';
import { errorType, messageOf, stackOf } from './error-type.js';
import { Metrics } from './metrics.js';
import { ModelCallSpan } from './model-call-span.js';
import { Attribute, SCOPE } from './names.js';
import {
  type OpenTelemetry,
  isRegistered,
  reportFailure,
  runSafely,
  warnOfOlderCopy,
} from './open-telemetry.js';
import { AdvisorSpan, type PartSpan } from './part-span.js';
import type { MeterLike, TelemetryOptions } from './telemetry-options.js';
import { ToolCallSpan } from './tool-call-span.js';
import { TurnSpan, type TurnStart } from './turn-span.js';
import type { ObservedPart } from '../observation/observation.js';

/** Instruments by meter: advisors that share a meter share the limits of its labels. */
const METRICS = new WeakMap<object, Metrics>();

/** Maximum length of a recorded name or id, even if that of content is smaller. */
const MIN_LENGTH = 1_024;

/** True if there is a tracer or a meter: one of the options, or that of a registered SDK. */
export function isRecording(api: OpenTelemetry, { tracer, meter }: TelemetryOptions): boolean {
  if (!tracer) warnOfOlderCopy('trace', api.trace.getTracerProvider());
  if (!meter) warnOfOlderCopy('metrics', api.metrics.getMeterProvider());
  if (tracer ?? meter) return true;
  return runSafely(api, () => isRegistered(api)) ?? true;
}

function metricsOf(api: OpenTelemetry, meter: MeterLike | undefined): Metrics {
  const source = meter ?? api.metrics.getMeterProvider();
  const known = METRICS.get(source);
  if (known) return known;
  const report = (error: unknown): void => reportFailure(api, error);
  const getMeter = (): Meter =>
    (meter as Meter | undefined) ?? api.metrics.getMeter(SCOPE.name, SCOPE.version);
  const metrics =
    runSafely(api, () => new Metrics(getMeter(), report)) ??
    new Metrics(api.createNoopMeter(), report);
  METRICS.set(source, metrics);
  return metrics;
}

/** Shared by the spans of one turn: its clock, its tracer, and the errors that are recorded. */
export class TurnTelemetry {
  readonly metrics: Metrics;
  readonly span: TurnSpan;
  /** The tracer of the options, or the one registered when the turn starts. */
  private readonly tracer: Tracer | undefined;
  /** Undefined if content is not recorded. */
  private readonly content: ContentCapture | undefined;
  private readonly maxLength: number;
  private readonly clockStart = clockStart();
  private readonly recordedErrors = new Set<unknown>();

  constructor(
    readonly api: OpenTelemetry,
    options: TelemetryOptions,
    private readonly start: TurnStart,
  ) {
    const { tracer, meter, captureContent, redact, maxContentLength = 8_192 } = options;
    const report = (error: unknown): void => reportFailure(api, error);
    this.metrics = metricsOf(api, meter);
    this.content = captureContent
      ? new ContentCapture(redact, maxContentLength, report)
      : undefined;
    this.maxLength = Math.max(maxContentLength, MIN_LENGTH);
    this.span = new TurnSpan(start, this.metrics, this.content);
    this.tracer =
      (tracer as Tracer | undefined) ??
      runSafely(api, () => api.trace.getTracer(SCOPE.name, SCOPE.version));
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.clockStart + performance.now();
  }

  /** Undefined if the tracer fails. */
  startSpan(part: PartSpan, startTime: number, parent: Context): Span | undefined {
    const { SpanKind } = this.api;
    const kind = part.isClient ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const attributes = this.attributes((to) => part.addStart(to));
    const name = truncate(part.spanName, 200);
    const options = { kind, startTime, attributes };
    return this.runSafely(() => this.tracer?.startSpan(name, options, parent));
  }

  /** The span of a part of this turn. */
  partSpan(part: ObservedPart): PartSpan {
    const { metrics, content, start } = this;
    this.span.countPart(part);
    switch (part.type) {
      case 'advisor':
        return new AdvisorSpan(part);
      case 'model-call':
        return new ModelCallSpan(part, metrics, content, start.conversationId);
      case 'tool-call':
        return new ToolCallSpan(part, metrics, content);
    }
  }

  runSafely<T>(work: () => T): T | undefined {
    return runSafely(this.api, work);
  }

  /** Collects attributes; a failure ends the collection. */
  attributes(add: (to: AttributeSet) => void): Attributes {
    const set = new AttributeSet(this.maxLength);
    this.runSafely(() => add(set));
    return set.values;
  }

  /** Status of a failed span; the text of the error is content. */
  errorStatus(error: unknown): SpanStatus {
    const { api, content } = this;
    const text = error === undefined ? undefined : messageOf(error);
    const message = content?.text(text, 'exception');
    return { code: api.SpanStatusCode.ERROR, ...(message !== undefined && { message }) };
  }

  /** Attributes of an error's event; undefined if an inner span that failed with it has one. */
  exceptionAttributes(error: unknown): Attributes | undefined {
    if (error === undefined || this.recordedErrors.has(error)) return undefined;
    this.recordedErrors.add(error);
    const { content } = this;
    return this.attributes((to) => {
      to.add(Attribute.EXCEPTION_TYPE, errorType(error));
      if (!content) return;
      to.add(Attribute.EXCEPTION_MESSAGE, content.text(messageOf(error), 'exception'));
      to.add(Attribute.EXCEPTION_STACKTRACE, content.text(stackOf(error), 'exception'));
    });
  }
}

let clock = performance.timeOrigin;

/**
 * Time at which `performance.now()` was 0, in milliseconds since 1970. All spans use this clock,
 * those of a turn within a turn too: the clock of tracers starts at whole milliseconds, so that a
 * span could end up to a millisecond after its parent. Set again when the system clock changes.
 */
function clockStart(): number {
  const rough = Date.now() - performance.now(); // less than a millisecond too early
  if (Math.abs(clock - rough) > 1) clock = rough;
  return clock;
}

/**
 * Delivers events in the caller's OpenTelemetry context, so that spans it starts are not children
 * of the turn.
 */
export class CallerContextSubscriber extends Subscriber<ChatEvent> {
  private readonly callerContext: Context;

  constructor(
    private readonly api: OpenTelemetry,
    private readonly subscriber: Subscriber<ChatEvent>,
  ) {
    super(subscriber);
    this.callerContext = api.context.active();
  }

  protected override _next(event: ChatEvent): void {
    this.api.context.with(this.callerContext, deliverEvent, undefined, this.subscriber, event);
  }

  protected override _error(error: unknown): void {
    this.api.context.with(this.callerContext, () => super._error(error));
  }

  protected override _complete(): void {
    this.api.context.with(this.callerContext, () => super._complete());
  }
}

/** A function shared by all events: a stream has thousands. */
function deliverEvent(subscriber: Subscriber<ChatEvent>, event: ChatEvent): void {
  subscriber.next(event);
}
