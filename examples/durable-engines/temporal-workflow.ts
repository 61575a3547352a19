import * as temporal from '@temporalio/workflow';
import type { Journal, Wait } from './journal.js';
import type { createActivities } from './temporal-activities.js';

type Value = Parameters<Journal['write']>[1];
type Recorded = Awaited<ReturnType<Journal['read']>>;
type Activities = ReturnType<typeof createActivities>;

/** Keeps a value of the turn; a decision is sent by it, with the id of the request as name. */
export const keep = temporal.defineSignal<[name: string, value: Value]>('keep');
export const kept = temporal.defineQuery<Recorded | null, [name: string]>('kept');

const { attempt } = temporal.proxyActivities<Activities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '30 seconds', // after which an attempt whose worker is lost begins again
});

export async function turn(question: string): Promise<string | null> {
  const values = new Map<string, Value>();
  const waiting = new Set<string>();
  temporal.setHandler(keep, (name, value) => void (values.has(name) || values.set(name, value)));
  temporal.setHandler(kept, (name) => values.has(name) ? { value: values.get(name) ?? null } : null); // prettier-ignore
  const timer = async ({ name, timeout }: Wait): Promise<void> => {
    if (timeout === undefined || waiting.has(name)) return;
    waiting.add(name);
    await temporal.sleep(timeout);
    if (!values.has(name)) values.set(name, null);
  };
  for (;;) {
    const outcome = await attempt(temporal.workflowInfo().workflowId, question);
    if ('answer' in outcome) return outcome.answer;
    if ('error' in outcome) throw temporal.ApplicationFailure.nonRetryable(outcome.error);
    for (const wait of outcome.waits) void timer(wait);
    await temporal.condition(() => outcome.waits.some(({ name }) => values.has(name)));
  }
}
