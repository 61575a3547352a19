import type { Attributes, AttributeValue, Context, Meter, Span, Tracer } from '@opentelemetry/api';
import type { Prompt } from '../../src/core/chat/prompt.js';
import type { RunReport } from '../../src/core/chat/run-report.js';
import { truncate } from '../../src/core/internal/text.js';
import type { ObservedPart, ObservedWait } from '../../src/core/observation/observation.js';
import { ContentCapture } from './content-capture.js';
import { Metrics } from './metrics.js';
import { addResponse, addUsageAttributes, ModelCallSpan, usageOf } from './model-call-span.js';
import { Attribute, Metric, Operation } from '../../src/core/observation/names.js';
import { SCOPE } from '../../src/core/internal/package.js';
import { type OpenTelemetry, runSafely } from './open-telemetry.js';
import {
  advisorSpan,
  retrievalSpan,
  toolCallSpan,
  type AddAttribute,
  type PartSpan,
  type SpanEnd,
} from './part-span.js';
import type { MeterLike, SpanAttributes, TelemetryOptions } from './telemetry-options.js';

/** Start of a turn. */
export interface TurnStart {
  readonly turnId: string;
  readonly mode: 'call' | 'stream';
  readonly prompt: Prompt;
  readonly run: Pick<RunReport, 'usage'>;
  readonly conversationId: string | undefined;
  /** Attributes added by the application. */
  readonly attributes: SpanAttributes | undefined;
  /** @default `invoke_agent`, followed by the attribute `gen_ai.agent.name` if there is one */
  readonly spanName: string | undefined;
}

/** Instruments by meter: advisors that share a meter share the limits of its labels. */
const METRICS = new WeakMap<object, Metrics>();

/** Maximum length of a recorded name or id, even if content has a smaller one. */
const MIN_LENGTH = 1_024;

function metricsOf(api: OpenTelemetry, meter: MeterLike | undefined): Metrics {
  const source = meter ?? api.metrics.getMeterProvider();
  const known = METRICS.get(source);
  if (known) return known;
  const create = (): Metrics =>
    new Metrics(api, (meter as Meter) ?? api.metrics.getMeter(SCOPE.name, SCOPE.version));
  const metrics = runSafely(api, create) ?? new Metrics(api, api.createNoopMeter());
  METRICS.set(source, metrics);
  return metrics;
}

/** The span of a turn, `invoke_agent`, and what it shares with the spans of its parts. */
export class TurnTelemetry implements PartSpan {
  readonly spanName: string;
  readonly metrics: Metrics;
  /** Undefined if content is not recorded. */
  readonly content: ContentCapture | undefined;
  /** Errors that a span has an event of. */
  readonly recordedErrors = new Set<unknown>();
  /** The tracer of the options, or the one registered when the turn starts. */
  private readonly tracer: Tracer | undefined;
  private readonly maxLength: number;
  /** The context of the caller, with the clock for turns within this one. */
  readonly context: Context;
  private readonly clockStart: number;
  private iterations = 0;
  private toolCalls = 0;
  private provider: string | undefined;

  constructor(
    readonly api: OpenTelemetry,
    options: TelemetryOptions,
    readonly start: TurnStart,
    callerContext: Context,
  ) {
    this.clockStart = (callerContext.getValue(CLOCK) as number | undefined) ?? clockStart();
    this.context = callerContext.setValue(CLOCK, this.clockStart);
    const { tracer, meter, captureContent, redact, maxContentLength = 8_192 } = options;
    const agent = start.attributes?.[Attribute.AGENT_NAME];
    this.spanName =
      start.spanName ?? Operation.INVOKE_AGENT + (typeof agent === 'string' ? ` ${agent}` : '');
    this.metrics = metricsOf(api, meter);
    this.content = captureContent ? new ContentCapture(api, redact, maxContentLength) : undefined;
    this.maxLength = Math.max(maxContentLength, MIN_LENGTH);
    this.tracer =
      (tracer as Tracer | undefined) ??
      runSafely(api, () => api.trace.getTracer(SCOPE.name, SCOPE.version));
  }

  addStart(add: AddAttribute): void {
    const { turnId, mode, prompt, conversationId, attributes } = this.start;
    add(Attribute.OPERATION_NAME, Operation.INVOKE_AGENT);
    add(Attribute.TURN_ID, turnId);
    add(Attribute.CONVERSATION_ID, conversationId);
    add(Attribute.REQUEST_MODEL, prompt.options.model);
    add(Attribute.REQUEST_STREAM, mode === 'stream' || undefined);
    for (const [name, value] of Object.entries(attributes ?? {})) add(name, value);
  }

  measure({ outcome, errorLabel, duration, context }: SpanEnd): void {
    const { metrics, iterations } = this;
    const labels = {
      [Attribute.OPERATION_NAME]: Operation.INVOKE_AGENT,
      [Attribute.OUTCOME]: outcome,
      ...metrics.label(Attribute.ERROR_TYPE, errorLabel),
    };
    metrics.record(Metric.TURN_DURATION, duration, labels, context);
    metrics.record(Metric.TURN_ITERATIONS, iterations, labels, context);
  }

  addEnd(add: AddAttribute, { ending }: SpanEnd): void {
    add(Attribute.PROVIDER_NAME, this.provider);
    add(Attribute.TURN_ITERATIONS, this.iterations);
    add(Attribute.TURN_TOOL_CALLS, this.toolCalls);
    addUsageAttributes(add, this.start.run.usage ?? usageOf(ending));
    if (ending.type === 'response') addResponse(add, ending.response, this.content);
    this.content?.addPrompt(add, this.start.prompt);
  }

  /** Counts a part of this turn and returns its span. */
  partSpan(part: Exclude<ObservedPart, ObservedWait>): PartSpan {
    switch (part.type) {
      case 'advisor':
        return advisorSpan(part);
      case 'model-call':
        if (part.iteration !== undefined) {
          this.iterations = Math.max(this.iterations, part.iteration + 1);
          this.provider ??= part.provider?.name;
        }
        return new ModelCallSpan(part, this);
      case 'retrieval':
        return retrievalSpan(part, this);
      case 'tool-call':
        this.toolCalls++;
        return toolCallSpan(part, this);
    }
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.clockStart + performance.now();
  }

  /** Undefined if the tracer fails. */
  startSpan(part: PartSpan, startTime: number, parent: Context): Span | undefined {
    const { SpanKind } = this.api;
    const kind = part.isClient ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const attributes = this.attributes((add) => part.addStart(add));
    const name = truncate(part.spanName, 200);
    const options = { kind, startTime, attributes };
    return this.runSafely(() => this.tracer?.startSpan(name, options, parent));
  }

  runSafely<T>(work: () => T): T | undefined {
    return runSafely(this.api, work);
  }

  /** Collects the attributes that have a value, with long texts truncated, until one fails. */
  attributes(collect: (add: AddAttribute) => void): Attributes {
    const collected: Attributes = {};
    this.runSafely(() =>
      collect((name, value) => {
        if (value !== undefined && value !== null)
          collected[name] = limit(value, this.maxLength) as AttributeValue;
      }),
    );
    return collected;
  }
}

/** @param maxLength maximum characters of a text, and of all texts of a list together */
function limit(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string') return truncate(value, maxLength);
  if (!Array.isArray(value)) return value;
  const kept: unknown[] = [];
  let room = maxLength;
  for (const item of value as readonly unknown[]) {
    if (room <= 0) break;
    const short = typeof item === 'string' ? truncate(item, room) : item;
    kept.push(short);
    room -= Math.max(String(short).length, 1);
  }
  return kept;
}

/** Key of the clock of a turn in its context: a turn within it has the same one. */
const CLOCK = Symbol('advisor-chain.clock');

let clock = performance.timeOrigin;

/**
 * Time at which `performance.now()` was 0, in milliseconds since 1970. All spans of a turn use this
 * clock, since the clock of tracers starts at whole milliseconds: a span could end a millisecond
 * after its parent. Set again when the system clock changes.
 */
function clockStart(): number {
  // read around the system clock: a pause of the process between two readings does not change it
  const before = performance.now();
  const now = Date.now();
  const after = performance.now();
  if (clock < now - after - 1 || clock > now - before + 1) clock = now - after;
  return clock;
}
