import type { Attributes, Context, Span, SpanOptions, SpanStatusCode, Tracer } from '@opentelemetry/api';
import { cut } from '../chat/cut.js';
import type { ObservedPart } from '../chat/observation.js';
import { AdvisorRecord } from './advisor-record.js';
import { attempt, reportFailure } from './attempt.js';
import { AttributeSet } from './attribute-set.js';
import type { ContentCapture } from './content-capture.js';
import { errorType, messageOf } from './error-type.js';
import type { Metrics } from './metrics.js';
import { ModelCallRecord } from './model-call-record.js';
import { Attribute } from './names.js';
import type { OpenTelemetry } from './open-telemetry.js';
import type { Waiting } from './outbox.js';
import type { SpanRecord } from './span-record.js';
import { ToolCallRecord } from './tool-call-record.js';
import type { TurnRecord } from './turn-record.js';

/** What the parts of one turn record with. */
export interface TurnTelemetryOptions {
  readonly api: OpenTelemetry;
  readonly tracer: Tracer | undefined;
  /** Whether the tracer wants each span as it begins and ends. */
  readonly isLive: boolean;
  readonly metrics: Metrics;
  readonly content: ContentCapture | undefined;
  /** Characters of a text that is recorded. */
  readonly maxLength: number;
  readonly record: TurnRecord;
}

/** What the spans of one turn share: a clock, the place where they are recorded, and the errors that were told of. */
export class TurnTelemetry {
  readonly metrics: Metrics;
  readonly capturesContent: boolean;
  readonly errorStatus: SpanStatusCode;
  private readonly clockStart = clockStart();
  private readonly told = new Set<unknown>();

  constructor(private readonly options: TurnTelemetryOptions) {
    this.metrics = options.metrics;
    this.capturesContent = options.content !== undefined;
    this.errorStatus = options.api.SpanStatusCode.ERROR;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.clockStart + performance.now();
  }

  startSpan(record: SpanRecord, surroundings: Context, startTime: number, withAttributes: boolean): Span | undefined {
    const { api, tracer, maxLength } = this.options;
    try {
      const options: SpanOptions = { kind: record.isClient ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL, startTime };
      if (withAttributes) options.attributes = this.attributes((to) => record.addBeginning(to));
      return tracer?.startSpan(cut(record.spanName, Math.min(maxLength, 200)), options, surroundings);
    } catch (error) {
      this.reportFailure(error);
      return undefined;
    }
  }

  recordOf(part: ObservedPart): SpanRecord {
    const { record, content, metrics } = this.options;
    record.hear(part);
    switch (part.type) {
      case 'advisor':
        return new AdvisorRecord(part);
      case 'model-call':
        return new ModelCallRecord(part, metrics, content, record.conversationId);
      case 'tool-call':
        return new ToolCallRecord(part, metrics, content);
    }
  }

  contextOf(surroundings: Context, span: Span): Context {
    return this.options.api.trace.setSpan(surroundings, span);
  }

  within<T>(context: Context, work: () => T): T {
    return this.options.api.context.with(context, work);
  }

  /** What is recorded of an error, where it is met first: those who pass it on have nothing to add. Its texts only where content is. */
  exceptionOf(error: unknown): Attributes | undefined {
    if (error === undefined || this.told.has(error)) return undefined;
    this.told.add(error);
    const { content } = this.options;
    const known = { [Attribute.EXCEPTION_TYPE]: errorType(error) };
    if (!content) return known;
    const stack = stackOf(error);
    return {
      ...known,
      [Attribute.EXCEPTION_MESSAGE]: content.text(messageOf(error), 'exception'),
      [Attribute.EXCEPTION_STACKTRACE]: stack === undefined ? undefined : content.text(stack, 'exception'),
    };
  }

  statusText(error: unknown): { readonly message?: string } {
    const { content } = this.options;
    return content && error !== undefined ? { message: content.text(messageOf(error), 'exception') } : {};
  }

  /** Attributes that a span can take. */
  attributes(add: (to: AttributeSet) => void): Attributes {
    const attributes = new AttributeSet(this.options.maxLength);
    add(attributes);
    return attributes.values;
  }

  /** Hands something on when the turn ends, at the latest; at once where the tracer wants that. */
  later(waiting: Waiting): void {
    if (this.options.isLive) this.attempt(() => waiting.handOn());
    else this.metrics.outbox.add(waiting);
  }

  attempt<T>(work: () => T): T | undefined {
    return attempt(this.options.api, work);
  }

  reportFailure(error: unknown): void {
    reportFailure(this.options.api, error);
  }
}

let clock = performance.timeOrigin;

/**
 * The time when `performance.now()` was 0: one clock for all spans, also of a turn within a turn. By those of tracers, which begin at whole
 * milliseconds, a span would end up to a millisecond after the one that it is in. Set again when the clock of the machine was.
 */
function clockStart(): number {
  const rough = Date.now() - performance.now(); // too early by less than a millisecond
  if (Math.abs(clock - rough) > 1) clock = rough;
  return clock;
}

function stackOf(error: unknown): string | undefined {
  try {
    const stack: unknown = error instanceof Error ? error.stack : undefined;
    return typeof stack === 'string' ? stack : undefined;
  } catch {
    return undefined;
  }
}
