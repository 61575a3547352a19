import type { SpanIds } from './span-like.js';

/** What `@opentelemetry/api` calls a `Context`; in words of its own, since the package may be absent. */
export interface ContextLike {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): ContextLike;
}

/** What `@opentelemetry/api` calls a `ContextManager`. */
interface ContextManagerLike {
  active(): ContextLike;
  with<T>(context: ContextLike, work: () => T): T;
}

/**
 * Where all copies of `@opentelemetry/api` 1.x keep the span of a context, and what is registered. So its spans are found without the
 * package, and also where an application has two copies of it.
 */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** What is active; undefined where nobody keeps that. */
export function activeContext(): ContextLike | undefined {
  return contextManager()?.active();
}

/** The span that a context has, if it is one that can be a parent: spans that record nothing have ids of zeros. */
export function spanIn(context: ContextLike | undefined): SpanIds | undefined {
  const span = context?.getValue(SPAN) as { spanContext(): SpanIds } | undefined;
  const ids = span?.spanContext();
  return ids && /[^0]/.test(ids.traceId) && /[^0]/.test(ids.spanId) ? { traceId: ids.traceId, spanId: ids.spanId } : undefined;
}

/** Does work where a span is active, as far as there is somebody who keeps what is active. */
export function within<T>(span: object, context: ContextLike | undefined, work: () => T): T {
  const manager = contextManager();
  return manager ? manager.with((context ?? manager.active()).setValue(SPAN, span), work) : work();
}

function contextManager(): ContextManagerLike | undefined {
  return (globalThis as { readonly [key: symbol]: { readonly context?: ContextManagerLike } | undefined })[REGISTRY]?.context;
}
