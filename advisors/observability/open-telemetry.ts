import type * as api from '@opentelemetry/api';
import { InvalidArgumentError } from '../../src/core/errors/errors.js';
import { notify } from '../../src/core/internal/notify.js';
import type { Rule } from '../../src/core/internal/options.js';
import { describe } from '../../src/core/errors/describe.js';
import { SCOPE } from '../../src/core/internal/package.js';
import type { TelemetryOptions } from './telemetry-options.js';

/** The package `@opentelemetry/api`, an optional dependency. */
export type OpenTelemetry = typeof api;

let loaded: OpenTelemetry | undefined;
let loading: Promise<OpenTelemetry> | undefined;
let hasWarned = false;

/** The package, if it has been loaded. */
export function openTelemetry(): OpenTelemetry | undefined {
  return loaded;
}

/**
 * Loads the package once.
 * @throws {@link InvalidArgumentError} if it is not installed
 */
export function loadOpenTelemetry(): Promise<OpenTelemetry> {
  return (loading ??= load());
}

async function load(): Promise<OpenTelemetry> {
  try {
    // bundlers treat an import in a try block as optional
    loaded = await import('@opentelemetry/api');
  } catch (cause) {
    loading = undefined;
    throw new InvalidArgumentError(
      'ObservabilityAdvisor needs the package @opentelemetry/api: npm install @opentelemetry/api@^1.9',
      { cause },
    );
  }
  return loaded;
}

/**
 * Runs code that tracers, meters and hooks may make fail: a failure goes to `diag`, where
 * OpenTelemetry reports its own errors, and the result is undefined.
 */
export function runSafely<T>(api: OpenTelemetry, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    reportFailure(api, error);
    return undefined;
  }
}

export function reportFailure({ diag }: OpenTelemetry, error: unknown): void {
  notify(() => diag.error('advisor-chain: a turn was recorded incompletely', error));
}

/**
 * Checks the result of an application's hook. Hooks are synchronous: promises are rejected, and
 * must not cause an unhandled rejection.
 * @throws TypeError if the value breaks the rule
 */
export function checkHookResult(hook: string, value: unknown, { text, accepts }: Rule): void {
  const isPromise = value instanceof Promise;
  if (isPromise) value.catch(() => undefined);
  if (!isPromise && accepts(value)) return;
  const found = isPromise ? 'a promise' : describe(value);
  throw new TypeError(`${hook} must return ${text}, not ${found}`);
}

/** True if there is a tracer or a meter: from the options, or from a registered SDK. */
export function isRecording(api: OpenTelemetry, { tracer, meter }: TelemetryOptions): boolean {
  if (!tracer) warnOfOlderCopy('trace', api.trace.getTracerProvider());
  if (!meter) warnOfOlderCopy('metrics', api.metrics.getMeterProvider());
  if (tracer ?? meter) return true;
  return runSafely(api, () => isRegistered(api)) ?? true;
}

function isRegistered(api: OpenTelemetry): boolean {
  const provider = api.trace.getTracerProvider();
  const hasTracer =
    !(provider instanceof api.ProxyTracerProvider) ||
    provider.getDelegateTracer(SCOPE.name) !== undefined;
  return hasTracer || api.metrics.getMeter(SCOPE.name) !== api.createNoopMeter();
}

/**
 * Warns once if the SDK was registered with an older copy of the package: this copy cannot use that
 * registration, so nothing would be recorded. All copies of major version 1 share one registry.
 */
function warnOfOlderCopy(kind: 'trace' | 'metrics', provider: object): void {
  if (hasWarned) return;
  const registry = (
    globalThis as { readonly [key: symbol]: Readonly<Record<string, unknown>> | undefined }
  )[Symbol.for('opentelemetry.js.api.1')];
  if (!registry?.[kind] || provider === registry[kind]) return;
  hasWarned = true;
  console.warn(
    `advisor-chain: the SDK was registered with @opentelemetry/api ${String(registry['version'])}, ` +
      `which is older than the copy that advisor-chain loads; no ${kind === 'trace' ? 'spans' : 'metrics'} ` +
      'are recorded. Install a single copy: npm ls @opentelemetry/api, npm dedupe.',
  );
}
