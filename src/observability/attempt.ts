import { tell } from '../chat/tell.js';
import type { OpenTelemetry } from './open-telemetry.js';

/**
 * Does what runs code of others (tracers, processors, meters, hooks): what that throws changes no turn, and goes where the errors of
 * OpenTelemetry itself go. Gives nothing if it fails.
 */
export function attempt<T>(api: OpenTelemetry, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    reportFailure(api, error);
    return undefined;
  }
}

export function reportFailure({ diag }: OpenTelemetry, error: unknown): void {
  tell(() => diag.error('advisor-chain: a turn was not recorded as it should be', error));
}
