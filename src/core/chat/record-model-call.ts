import { hasCode } from '../errors/advisor-chain-error.js';
import type { ModelRun } from './chat-model.js';
import { modelCallError, RunRecord, type CallDetails } from './run-record.js';
import type { ModelCallRecord } from './run-report.js';

/**
 * Makes a model call outside the chain, and adds it to the ledger of its run.
 * @param run undefined if the call belongs to no run
 */
export async function recordModelCall<T extends CallDetails>(
  run: RunRecord | undefined,
  kind: ModelCallRecord['kind'],
  model: string | undefined,
  call: () => Promise<T>,
): Promise<T> {
  if (!run) return call();
  const record = run.beginModelCall(kind, model);
  try {
    const response = await call();
    run.endModelCall(record, 'answered', response);
    return response;
  } catch (error) {
    const outcome = hasCode(error, 'cancelled') ? 'cancelled' : 'failed';
    run.endModelCall(record, outcome, modelCallError(error));
    throw error;
  }
}

/** Adds work of a model to the run that it belongs to, if there is one. */
export function trackWork(run: ModelRun, work: Promise<unknown>): void {
  if (run.track) run.track(work);
  else RunRecord.of(run.signal)?.track(work);
}
