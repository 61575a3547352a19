/** Runs tasks with at most `max` of them at a time, started in order; the results are in order too. */
export async function limitConcurrency<T>(tasks: readonly (() => Promise<T>)[], max: number): Promise<PromiseSettledResult<T>[]> {
  if (tasks.length <= max) return Promise.allSettled(tasks.map((task) => task()));
  const results: PromiseSettledResult<T>[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < tasks.length) {
      const at = next++;
      const [settled] = await Promise.allSettled([(tasks[at] as () => Promise<T>)()]);
      results[at] = settled as PromiseSettledResult<T>;
    }
  };
  await Promise.all(Array.from({ length: max }, worker));
  return results;
}
