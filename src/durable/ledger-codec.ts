import type { Usage } from '../chat/chat-response.js';
import type { RunRecord } from '../chat/run-record.js';
import type { ModelCallRecord } from '../chat/run-report.js';
import type { JsonValue } from '../internal/json.js';
import { toJson } from './json-data.js';

/** Model calls that were made within a step, such as the summary of a memory. */
export type EncodedCalls = readonly EncodedCall[];

type EncodedCall = {
  readonly kind: ModelCallRecord['kind'];
  readonly outcome: ModelCallRecord['outcome'];
  readonly model?: string;
  readonly iteration?: number;
  readonly attempt: number;
  readonly usage?: JsonValue;
};

/** The calls of a ledger from an index on, as a field of a step; none if there are none. */
export function ledgerSince(
  ledger: readonly ModelCallRecord[],
  from = 0,
): { readonly calls?: EncodedCalls } {
  return ledger.length > from ? { calls: ledger.slice(from).map(encodeCall) } : {};
}

function encodeCall(call: ModelCallRecord): EncodedCall {
  const { kind, outcome, model, iteration, attempt, usage } = call;
  return {
    kind,
    outcome: outcome === 'pending' ? 'cancelled' : outcome,
    attempt,
    ...(model !== undefined && { model }),
    ...(iteration !== undefined && { iteration }),
    ...(usage && { usage: toJson(usage, 'the usage of a model call') }),
  };
}

/** Adds the calls of a recorded step to the ledger of a run that did not make them. */
export function replayLedger(run: RunRecord, calls: EncodedCalls = []): void {
  for (const { model, iteration, usage, ...rest } of calls)
    run.addToLedger({
      ...rest,
      model,
      iteration,
      usage: usage as unknown as Usage | undefined,
      isReplayed: true,
    });
}
