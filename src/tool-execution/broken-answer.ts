import { isCutJson } from '../internal/partial-json.js';
import { describe } from '../internal/text.js';
import { TimeSlice } from '../internal/time-slice.js';
import type { CheckedCall } from './check-call.js';

/**
 * Finish reasons of complete answers, without separators and in lower case. The list is one of those
 * that are complete: providers invent others for answers that they break off (`abort`, `safety`,
 * `insufficient_system_resource`), and half a batch must not run. Some servers give no reason.
 */
const COMPLETE: ReadonlySet<string> = new Set(
  ' stop stopsequence endturn eos eostoken complete completed toolcall toolcalls tooluse functioncall'.split(
    ' ',
  ),
);

/** The text for the model in place of all results if its answer was broken off. */
export function describeBrokenOff(finishReason = ''): string | undefined {
  if (COMPLETE.has(finishReason.replaceAll(/[-_\s]/g, '').toLowerCase())) return undefined;
  return `Not run: your answer was cut off before its end (finish reason ${describe(finishReason)}). Send the call again, shorter if possible.`;
}

/**
 * Refuses the whole calls of a batch if another one was cut off, which shows that the answer was,
 * whatever its finish reason.
 */
export async function refuseIfCut(batch: readonly CheckedCall[]): Promise<readonly CheckedCall[]> {
  if (batch.every(({ outcome }) => outcome === 'success') || !(await hasCut(batch))) return batch;
  return batch.map((checked) =>
    checked.outcome === 'success' ? { ...checked, outcome: 'refused', error: NOT_RUN } : checked,
  );
}

const NOT_RUN =
  'Not run: your answer was cut off, the arguments of another call end early. Send all calls again.';

/** Looks at the calls in slices of time: their arguments may have megabytes. */
async function hasCut(batch: readonly CheckedCall[]): Promise<boolean> {
  const slice = new TimeSlice();
  for (const checked of batch) {
    const found = isCut(checked);
    await slice.next();
    if (found) return true;
  }
  return false;
}

function isCut({ call, outcome }: CheckedCall): boolean {
  const text: unknown = call.arguments;
  if (typeof text !== 'string' || !isCutJson(text)) return false;
  // blank text stands for no arguments
  return outcome === 'invalid_arguments' || (outcome === 'unknown_tool' && text.trim() !== '');
}
