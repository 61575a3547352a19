import { createHook } from 'node:async_hooks';
import { settle } from './promises.js';

/**
 * Runs a piece of work; resolves with the types of the timers and sockets that it leaves. Those that are
 * there before belong to earlier tests, and may end at any time.
 * @param madeBy matches the stack in which they were made, if others such as the pool of `fetch` make some, too
 */
export async function resourcesLeftBy(
  work: () => Promise<void>,
  madeBy?: RegExp,
): Promise<readonly string[]> {
  const held = new Map<number, string>();
  const hook = createHook({
    init: (id, type) => {
      if (!/Timeout|TCP|Socket/.test(type)) return;
      const isOwn = !madeBy || madeBy.test(new Error().stack ?? '');
      if (isOwn) held.set(id, type);
    },
    destroy: (id) => void held.delete(id),
  }).enable();
  try {
    await work();
    // the end of a timer is reported after its listeners have run
    await settle();
  } finally {
    hook.disable();
  }
  return [...held.values()];
}
