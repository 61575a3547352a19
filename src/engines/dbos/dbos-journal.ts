import type { JsonValue } from '../../core/internal/json.js';
import { outsideWorkflows, DBOS } from './dbos-sdk.js';
import { decodeStep, decodeMessage } from './recorded-step.js';

/** Name of the record for a step that was under way when its process ended. */
export const INTERRUPTED = 'interrupted';
/** Recorded steps that are read again at once; each takes three queries. */
const AT_ONCE = 8;

/** A step as DBOS lists it. */
export interface ListedStep {
  readonly functionID: number;
  readonly name: string;
  readonly output: unknown;
  readonly startedAtEpochMs?: number;
  readonly completedAtEpochMs?: number;
}

/** Records of earlier executions of a turn, by name. */
export interface Journal {
  readonly values: Map<string, JsonValue>;
  /** Values that were received under a name, whose wait had not ended. */
  readonly messages: Map<string, JsonValue>;
}

/**
 * Reads the steps of a turn, and takes their numbers: DBOS numbers the steps of a workflow in the
 * order in which they begin, and ours may begin in another order in a replay.
 */
export async function openJournal(turnId: string): Promise<Journal> {
  const steps = await listSteps(turnId);
  const journal: Journal = { values: new Map(), messages: new Map() };
  for (const step of steps) keep(journal, step);
  await takeNumbers(steps);
  return journal;
}

export async function listSteps(turnId: string): Promise<readonly ListedStep[]> {
  return (await outsideWorkflows(() => DBOS.listWorkflowSteps(turnId))) ?? [];
}

/** True for what DBOS records by itself, and for the records of interrupted steps. */
export function isInternal(name: string): boolean {
  return name === INTERRUPTED || name.startsWith('DBOS.');
}

function keep({ values, messages }: Journal, { name, output }: ListedStep): void {
  if (name === 'DBOS.recv' && typeof output === 'string') {
    const message = decodeMessage(output);
    messages.set(message.name, message.value);
  }
  if (isInternal(name)) return;
  const record = decodeStep(name, output);
  if ('value' in record) values.set(name, record.value);
}

async function takeNumbers(steps: readonly ListedStep[]): Promise<void> {
  const names = new Map(steps.map(({ functionID, name }) => [functionID, name]));
  const end = (steps.at(-1)?.functionID ?? -1) + 1;
  for (let from = 0; from < end; from += AT_ONCE) {
    const ids = Array.from({ length: Math.min(AT_ONCE, end - from) }, (_, at) => from + at);
    // a step takes its number when it is called
    await Promise.all(ids.map((id) => replay(names.get(id) ?? INTERRUPTED)));
  }
}

function replay(name: string): Promise<unknown> {
  return DBOS.runStep(() => Promise.resolve(null), { name });
}
