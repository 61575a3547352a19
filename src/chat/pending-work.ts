/** Number of tasks from the end of an aborted `fetch` until the other side has seen it. */
const TASKS_TO_CLOSE = 3;

/** Work that may outlive the end of a run. */
export class PendingWork {
  private readonly works = new Set<Promise<unknown>>();
  private last: Set<Promise<unknown>> | undefined;

  add(work: Promise<unknown>): void {
    addUntilEnd(this.works, work);
  }

  /** Begins work when all other has ended; such works do not wait for each other. */
  addLast(begin: () => Promise<unknown>): Promise<unknown> {
    const work = untilSettled(this.works).then(begin);
    addUntilEnd((this.last ??= new Set()), work);
    return work;
  }

  /** Resolves when all work has ended; never rejects. */
  async settled(): Promise<void> {
    await untilSettled(this.works);
    while (this.last?.size) await Promise.allSettled(this.last);
  }
}

function addUntilEnd(works: Set<Promise<unknown>>, work: Promise<unknown>): void {
  const forget = (): void => void works.delete(work);
  works.add(work);
  work.then(forget, forget);
}

/** Waits for work, and then for some more tasks: in these the socket of an aborted request is closed. */
async function untilSettled(pending: ReadonlySet<Promise<unknown>>): Promise<void> {
  do {
    await Promise.allSettled(pending);
    for (let task = 0; task < TASKS_TO_CLOSE; task++)
      await new Promise((resolve) => setTimeout(resolve, 0));
  } while (pending.size > 0);
}
