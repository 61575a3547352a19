import type { Meter, Tracer } from '@opentelemetry/api';
import { attempt, reportFailure } from './attempt.js';
import { ContentCapture, type Redact } from './content-capture.js';
import { Metrics } from './metrics.js';
import { SCOPE } from './names.js';
import { ObservedSpan } from './observed-span.js';
import { isRegistered, warnOfSkew, type OpenTelemetry } from './open-telemetry.js';
import { Outbox } from './outbox.js';
import type { MeterLike, TracerLike } from './tracer-like.js';
import { TurnRecord, type TurnStart } from './turn-record.js';
import { TurnTelemetry } from './turn-telemetry.js';

/** Settings of a {@link Telemetry}; see the options of `ObservabilityAdvisor`. */
export interface TelemetryOptions {
  readonly tracer: TracerLike | undefined;
  readonly meter: MeterLike | undefined;
  readonly captureContent: boolean;
  readonly redact: Redact | undefined;
  readonly maxContentLength: number;
}

/** Instruments of each meter: what bounds its labels must not begin anew with each advisor. */
const METRICS = new WeakMap<object, Metrics>();

/** Characters of a name or an id that is recorded, however short content is to be. */
const MIN_LENGTH = 1_024;

/** Where turns are recorded: the tracer and the meter that were given, or those that are registered when a turn begins. */
export class Telemetry {
  constructor(private readonly options: TelemetryOptions) {}

  /** The root span of a turn, within what is active where the turn was asked for. */
  beginTurn(api: OpenTelemetry, start: TurnStart): ObservedSpan {
    const { captureContent, redact, maxContentLength } = this.options;
    const report = (error: unknown): void => reportFailure(api, error);
    const content = captureContent ? new ContentCapture({ redact, maxLength: maxContentLength, report }) : undefined;
    const metrics = this.metrics(api);
    const record = new TurnRecord(start, metrics, content);
    const maxLength = Math.max(maxContentLength, MIN_LENGTH);
    const isLive = this.options.tracer?.isLive === true;
    const turn = new TurnTelemetry({ api, tracer: this.tracer(api), isLive, metrics, content, maxLength, record });
    return new ObservedSpan(turn, record, undefined, api.context.active());
  }

  /** Whether anybody records anything: without an SDK, and without a tracer or a meter of its own, nobody does. */
  isRecording(api: OpenTelemetry): boolean {
    const { tracer, meter } = this.options;
    if (!tracer) warnOfSkew('trace', api.trace.getTracerProvider());
    if (!meter) warnOfSkew('metrics', api.metrics.getMeterProvider());
    if (tracer ?? meter) return true;
    // what cannot say so is asked for a tracer, and told of when it has none
    return attempt(api, () => isRegistered(api)) ?? true;
  }

  private tracer(api: OpenTelemetry): Tracer | undefined {
    if (this.options.tracer) return this.options.tracer as Tracer;
    return attempt(api, () => api.trace.getTracer(SCOPE.name, SCOPE.version));
  }

  private metrics(api: OpenTelemetry): Metrics {
    const { meter } = this.options;
    const source = meter ?? api.metrics.getMeterProvider();
    const known = METRICS.get(source);
    if (known) return known;
    const outbox = new Outbox((error) => reportFailure(api, error));
    const make = (): Metrics => new Metrics((meter as Meter | undefined) ?? api.metrics.getMeter(SCOPE.name, SCOPE.version), outbox);
    const metrics = attempt(api, make) ?? new Metrics(api.createNoopMeter(), outbox);
    METRICS.set(source, metrics);
    return metrics;
  }
}
