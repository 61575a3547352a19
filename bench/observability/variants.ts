// The ways to run the same work: each in a process of its own, since what is registered is registered for the whole process.
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { ObservabilityAdvisor, type Advisor } from '../../src/index.js';

/**
 * `none` has no advisor, and neither has `again`: what they differ by is noise. `api` has the advisor, but no SDK. `caller` has the SDK and a span
 * that is active, as in the handler of a web server, but no advisor. `sdk` has that and the advisor.
 */
export type Variant = 'none' | 'again' | 'api' | 'caller' | 'sdk';

export const VARIANTS: readonly Variant[] = ['none', 'again', 'api', 'caller', 'sdk'];

/** Setup of a variant in this process. */
export interface Setup {
  readonly advisors: readonly Advisor[];
  /** Exports the recorded telemetry and returns the number of spans. */
  readonly flush: () => Promise<number>;
  /** Runs work in the context of the application's request. */
  readonly within: (work: () => Promise<void>) => Promise<void>;
}

export function setUp(variant: Variant): Setup {
  const advisors = variant === 'api' || variant === 'sdk' ? [new ObservabilityAdvisor()] : [];
  if (variant !== 'caller' && variant !== 'sdk')
    return { advisors, flush: () => Promise.resolve(0), within: (work) => work() };
  const flush = register();
  const caller = trace.setSpan(
    context.active(),
    trace.getTracer('application').startSpan('POST /chat'),
  );
  return { advisors, flush, within: (work) => context.with(caller, work) };
}

/** A reader that collects metrics on request. */
class Reader extends MetricReader {
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
}

/** The real SDK with an exporter that drops all. */
function register(): () => Promise<number> {
  let spans = 0;
  const exporter = {
    export: (batch: ReadableSpan[], done: (result: { code: number }) => void): void => {
      spans += batch.length;
      done({ code: 0 });
    },
    shutdown: () => Promise.resolve(),
  };
  const processor = new BatchSpanProcessor(exporter);
  const reader = new Reader();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }));
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  return async () => {
    await processor.forceFlush();
    const { errors } = await reader.collect();
    if (errors.length > 0) throw new AggregateError(errors, 'the metrics were not collected');
    const exported = spans;
    spans = 0;
    return exported;
  };
}
