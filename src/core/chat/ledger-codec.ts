import type { Usage } from './chat-response.js';
import type { RunRecord } from './run-record.js';
import type { StepCodec } from './run-recorder.js';
import type { ModelCallRecord } from './run-report.js';
import type { JsonValue } from '../internal/json.js';
import { toJson } from '../internal/json-data.js';

/** Model calls that were made within a step, such as an embedding of a memory. */
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

/**
 * A codec of a step that may call models, such as an embedding of a memory: it records their calls,
 * too, except for those that outlive the step. The step must begin at once.
 */
export function withModelCalls<T>(run: RunRecord, codec: StepCodec<T>): StepCodec<T> {
  const from = run.ledger.length;
  return {
    ...codec,
    encode: (value) => {
      const encoded = codec.encode(value) as { readonly [field: string]: JsonValue };
      const ended = run.ledger.slice(from).filter(({ outcome }) => outcome !== 'pending');
      return { ...encoded, ...ledgerSince(ended) };
    },
    decode: (recorded) => {
      replayLedger(run, (recorded as { readonly calls?: EncodedCalls }).calls);
      return codec.decode(recorded);
    },
  };
}
