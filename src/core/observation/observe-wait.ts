import type { Observation, WaitReason } from './observation.js';

/**
 * Awaits work, of which a part of a run may have to wait.
 * @param work reports when it has to wait; its end is the end of the wait
 * @throws the error of the work
 */
export function observeWait<T>(
  observation: Observation | undefined,
  reason: WaitReason,
  work: (onWait: () => void) => Promise<T>,
): Promise<T> {
  return observation ? observed(observation, reason, work) : work(() => undefined);
}

async function observed<T>(
  observation: Observation,
  reason: WaitReason,
  work: (onWait: () => void) => Promise<T>,
): Promise<T> {
  let waiting: Observation | undefined;
  try {
    return await work(() => void (waiting ??= observation.begin({ type: 'wait', reason })));
  } finally {
    waiting?.end({ type: 'done' });
  }
}
