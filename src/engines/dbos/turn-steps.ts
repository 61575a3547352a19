import type { PendingRequest } from '../../core/chat/paused-turn.js';
import { DurableTurnError } from '../../core/errors/errors.js';
import type { JsonValue } from '../../core/internal/json.js';
import { isInternal, listSteps, type ListedStep } from './dbos-journal.js';
import { decodeStep } from './recorded-step.js';
import { waitOf, waitStep, type Wait } from './waits.js';

/** A recorded step of a turn. */
export interface RecordedStep {
  readonly name: string;
  /** Recorded value; undefined if its run has rejected. */
  readonly value: JsonValue | undefined;
  /** Time of its beginning, in milliseconds since 1970. */
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
}

/** The recorded steps of a turn, in the order of their beginning. */
export async function stepsOf(turnId: string): Promise<readonly RecordedStep[]> {
  return (await listSteps(turnId)).filter(({ name }) => !isInternal(name)).map(toStep);
}

function toStep(step: ListedStep): RecordedStep {
  const { name, output, startedAtEpochMs: startedAt, completedAtEpochMs: endedAt } = step;
  const record = decodeStep(name, output);
  return { name, value: 'value' in record ? record.value : undefined, startedAt, endedAt };
}

/** The requests of the waits that have not ended. */
export async function pendingRequests(turnId: string): Promise<readonly PendingRequest[]> {
  const steps = await stepsOf(turnId);
  const ended = new Set(steps.map(({ name }) => name));
  return steps.flatMap(({ name, value }) => {
    const wait = waitOf(name);
    const { request } = (wait === undefined ? {} : value) as Partial<Wait>;
    if (wait === undefined || request === undefined || ended.has(waitStep(wait))) return [];
    return [request as unknown as PendingRequest];
  });
}

/**
 * The number that DBOS has given to a step, or to the first of those that record parts of it.
 * @throws {@link DurableTurnError} if the turn has no step with this name
 */
export async function numberOfStep(turnId: string, stepName: string): Promise<number> {
  const steps = await listSteps(turnId);
  const parts = steps.filter(({ name }) => name === stepName || name.startsWith(`${stepName} `));
  const [first] = parts.toSorted((a, b) => a.functionID - b.functionID);
  if (first) return first.functionID;
  const names = steps.map(({ name }) => name).filter((name) => !isInternal(name));
  throw new DurableTurnError(
    `The turn '${turnId}' has no step '${stepName}'; its steps are: ${names.join(', ')}`,
  );
}
