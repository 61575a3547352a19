/** Number of tasks from the end of an aborted `fetch` until the other side has seen it. */
const TASKS_TO_CLOSE = 3;

/** Waits for work, and then for some more tasks: in these the socket of an aborted request is closed. */
export async function untilSettled(pending: ReadonlySet<Promise<unknown>>): Promise<void> {
  do {
    await Promise.allSettled(pending);
    for (let task = 0; task < TASKS_TO_CLOSE; task++)
      await new Promise((resolve) => setTimeout(resolve, 0));
  } while (pending.size > 0);
}
