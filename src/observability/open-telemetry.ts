import type * as api from '@opentelemetry/api';
import { InvalidArgumentError } from '../errors.js';
import { SCOPE } from './names.js';

/** The package `@opentelemetry/api`, which is there only where somebody wants it. */
export type OpenTelemetry = typeof api;

let loaded: OpenTelemetry | undefined;
let loading: Promise<OpenTelemetry> | undefined;
let hasWarned = false;

/** The package if it was loaded. */
export function openTelemetry(): OpenTelemetry | undefined {
  return loaded;
}

/**
 * Loads the package, once.
 * @throws {@link InvalidArgumentError} if it is not installed
 */
export function loadOpenTelemetry(): Promise<OpenTelemetry> {
  return (loading ??= load());
}

async function load(): Promise<OpenTelemetry> {
  try {
    // in a try block bundlers take it as optional
    loaded = await import('@opentelemetry/api');
  } catch (cause) {
    loading = undefined;
    throw new InvalidArgumentError('ObservabilityAdvisor needs the package @opentelemetry/api: npm install @opentelemetry/api@^1.9', {
      cause,
    });
  }
  return loaded;
}

/** Whether an SDK has registered what makes spans or metrics. */
export function isRegistered(api: OpenTelemetry): boolean {
  const provider = api.trace.getTracerProvider();
  const hasTracer = !(provider instanceof api.ProxyTracerProvider) || provider.getDelegateTracer(SCOPE.name) !== undefined;
  return hasTracer || api.metrics.getMeter(SCOPE.name) !== api.createNoopMeter();
}

/**
 * A registration by another copy of the package is invisible to ours if ours is the newer one: everything recorded would vanish without
 * a word. The registry is where all copies of major version 1 keep what is registered.
 */
export function warnOfSkew(kind: 'trace' | 'metrics', provider: object): void {
  if (hasWarned) return;
  const registry = (globalThis as { readonly [key: symbol]: Readonly<Record<string, unknown>> | undefined })[
    Symbol.for('opentelemetry.js.api.1')
  ];
  if (!registry?.[kind] || provider === registry[kind]) return;
  hasWarned = true;
  console.warn(
    `advisor-chain: the SDK was registered with @opentelemetry/api ${String(registry['version'])}, which is older than the copy that ` +
      `advisor-chain finds; no ${kind === 'trace' ? 'spans' : 'metrics'} are recorded. Have one copy only: npm ls @opentelemetry/api, npm dedupe.`,
  );
}
