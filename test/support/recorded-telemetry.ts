import { inspect } from 'node:util';
import type { AttributeValue, Meter } from '@opentelemetry/api';
import { MeterProvider, MetricReader, type MetricData } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { LogEntry } from '../../src/index.js';

/** Collects when a test asks, and holds as many series as there are. */
class PulledMetrics extends MetricReader {
  constructor() {
    super({ cardinalitySelector: () => 10_000_000 });
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** Measurements of a meter. */
export interface Measurements {
  readonly meter: Meter;
  /** For a provider of a test's own. */
  readonly reader: MetricReader;
  readonly collect: () => Promise<readonly MetricData[]>;
}

/** A meter of the real SDK that keeps what it measures. */
export function recordMetrics(): Measurements {
  const reader = new PulledMetrics();
  let meter: Meter | undefined;
  const collect = async (): Promise<readonly MetricData[]> => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw new AggregateError(errors);
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  };
  return {
    get meter() {
      return (meter ??= new MeterProvider({ readers: [reader] }).getMeter('test'));
    },
    reader,
    collect,
  };
}

/** A logger that keeps its entries. */
export class KeptLog {
  readonly lines: unknown[] = [];
  readonly info = (entry: LogEntry): void => void this.lines.push(entry);
  readonly error = (entry: LogEntry): void => void this.lines.push(entry);
}

/** A value with all its content as one text. */
export function everythingIn(value: unknown): string {
  return inspect(value, {
    depth: Infinity,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
    breakLength: Infinity,
  });
}

/** The exported fields of a span. */
export function exportedOf({
  name,
  attributes,
  events,
  links,
  status,
  resource,
  instrumentationScope,
}: ReadableSpan): object {
  return {
    name,
    attributes,
    events,
    links,
    status,
    resource: resource.attributes,
    instrumentationScope,
  };
}

/** Recorded values of spans, with their places. */
export function valuesOf(
  spans: readonly ReadableSpan[],
): readonly (readonly [place: string, value: AttributeValue])[] {
  return spans.flatMap(({ name, attributes, events, status }) => [
    [`name of ${name.slice(0, 40)}`, name] as const,
    [`status of ${name.slice(0, 40)}`, status.message ?? ''] as const,
    ...[attributes, ...events.map((event) => event.attributes ?? {})].flatMap((group) =>
      Object.entries(group).flatMap(([key, value]) =>
        value === undefined ? [] : [[key, value] as const],
      ),
    ),
  ]);
}
