import { RecordingSpan, type RecordedSpan } from './recording-span.js';
import type { SpanTimeInput } from './span-time.js';
import { activeContext, spanIn, within, type ContextLike } from './surroundings.js';

/** What a {@link RecordingTracer} takes of what `@opentelemetry/api` calls `SpanOptions`. */
export interface RecordingSpanOptions {
  readonly attributes?: object | undefined;
  /** @default now */
  readonly startTime?: SpanTimeInput | undefined;
  /** Whether the span has no parent, whatever its surroundings are. @default false */
  readonly root?: boolean | undefined;
}

/**
 * Keeps the spans that are made with it, so that tests and first steps need no SDK: `new ObservabilityAdvisor({ tracer })`. It is a
 * `Tracer` of `@opentelemetry/api`, but without samplers, processors and limits. See {@link describeRun} for its spans as a text.
 */
export class RecordingTracer {
  /** It is given each span as it begins and ends. */
  readonly isLive = true;
  private kept: RecordingSpan[] = [];

  /** What was recorded, open spans included, in the order in which they were made. */
  get spans(): readonly RecordedSpan[] {
    return this.kept.map(({ recorded }) => recorded);
  }

  /** Forgets all spans, also those that are still open. */
  clear(): void {
    this.kept = [];
  }

  /** @param context what the parent is found in; @default what is active */
  startSpan(name: string, options: RecordingSpanOptions = {}, context: ContextLike | undefined = activeContext()): RecordingSpan {
    const parent = options.root === true ? undefined : spanIn(context);
    const ids = { traceId: parent?.traceId ?? randomHex(32), spanId: randomHex(16) };
    const span = new RecordingSpan(name, ids, parent, options);
    this.kept.push(span);
    return span;
  }

  /** The work comes last, after a name, options and a context, of which the latter two may be left out. Who does it ends the span. */
  startActiveSpan<Work extends (span: RecordingSpan) => unknown>(
    name: string,
    ...rest: [Work] | [RecordingSpanOptions, Work] | [RecordingSpanOptions, ContextLike, Work]
  ): ReturnType<Work> {
    const work = rest.at(-1) as Work;
    const [options, context] = rest.slice(0, -1) as [RecordingSpanOptions?, ContextLike?];
    const span = this.startSpan(name, options, context);
    return within(span, context, () => work(span)) as ReturnType<Work>;
  }
}

function randomHex(length: number): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, length);
}
