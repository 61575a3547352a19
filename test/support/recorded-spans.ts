import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { context, type HrTime, type Span, type Tracer } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';

/** Spans recorded by a tracer. */
export interface Recording {
  readonly tracer: Tracer;
  /** The spans that have ended, in order of their ends. */
  readonly spans: readonly ReadableSpan[];
  /** Problems of the spans: not ended, ended twice, outside their parents, unknown parent. */
  readonly problems: readonly string[];
}

/** A tracer of the real SDK that keeps what it records, and counts how often each span ends. */
export function recordSpans(): Recording {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const sdk = provider.getTracer('test');
  const ends = new Map<Span, { readonly name: string; count: number }>();
  const tracer: Tracer = {
    startSpan(name, options, parent) {
      const span = sdk.startSpan(name, options, parent);
      const counted = { name, count: 0 };
      ends.set(span, counted);
      const end = span.end.bind(span);
      span.end = (time) => {
        counted.count++;
        end(time);
      };
      return span;
    },
    startActiveSpan: sdk.startActiveSpan.bind(sdk),
  };
  return {
    tracer,
    get spans() {
      return exporter.getFinishedSpans();
    },
    get problems() {
      const counts = [...ends.values()].flatMap(({ name, count }) =>
        count === 1 ? [] : [`"${name}" ended ${count} times`],
      );
      return [...counts, ...misplaced(exporter.getFinishedSpans())];
    },
  };
}

/** Registers a context manager, and returns a function that removes it. */
export function useContextManager(): () => void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return () => context.disable();
}

/** Spans whose parent is missing, of another trace, or shorter than they are. */
function misplaced(spans: readonly ReadableSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  return spans.flatMap((span) => {
    const { name, parentSpanContext } = span;
    if (!parentSpanContext) return [];
    const parent = byId.get(parentSpanContext.spanId);
    if (!parent) return [`"${name}" has a parent that was not recorded`];
    const tolerance = isOurs(span) ? (isOurs(parent) ? 0 : CLOCKS_DIFFER_BY) : Infinity;
    return [
      ...(parent.spanContext().traceId === span.spanContext().traceId
        ? []
        : [`"${name}" is not in the trace of "${parent.name}"`]),
      ...(compare(parent.startTime, span.startTime) <= tolerance
        ? []
        : [`"${name}" begins before "${parent.name}"`]),
      ...(compare(span.endTime, parent.endTime) <= tolerance
        ? []
        : [`"${name}" ends after "${parent.name}"`]),
    ];
  });
}

/**
 * Nanoseconds. Other spans have the clock of the SDK, which starts at whole milliseconds, follows
 * the system clock, and reads two clocks, between which a busy machine may pause the process.
 */
const CLOCKS_DIFFER_BY = 100e6;

/** True for spans of this library, which share one clock. */
function isOurs({ attributes }: ReadableSpan): boolean {
  return 'advisor_chain.outcome' in attributes;
}

/**
 * The spans as an indented tree, children in order of their beginning; with the text of `show`
 * after each name.
 */
export function treeOf(
  spans: readonly ReadableSpan[],
  show: (span: ReadableSpan) => string = outcomeOf,
): string {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const lines = (parent: string | undefined, indent: string): string[] =>
    spans
      .filter(
        ({ parentSpanContext }) =>
          (ids.has(parentSpanContext?.spanId ?? '') ? parentSpanContext?.spanId : undefined) ===
          parent,
      )
      .toSorted((a, b) => compare(a.startTime, b.startTime))
      .flatMap((span) => [
        `${indent}${span.name}${show(span)}`,
        ...lines(span.spanContext().spanId, `${indent}  `),
      ]);
  return lines(undefined, '').join('\n');
}

function outcomeOf({ attributes, events }: ReadableSpan): string {
  const outcome = attributes['advisor_chain.outcome'];
  const notes = [
    outcome === 'success' ? undefined : outcome,
    attributes['error.type'],
    ...events.map(({ name }) => name),
  ];
  const parts = notes.filter((part) => part !== undefined);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

/** Nanoseconds from `b` to `a`. */
function compare(a: HrTime, b: HrTime): number {
  return (a[0] - b[0]) * 1e9 + a[1] - b[1];
}
