import { setImmediate } from 'node:timers/promises';

/** Milliseconds of CPU time of work: other programs do not count. */
export async function cpuOf(work: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

/** Bytes of live objects and of the numbers of typed arrays. */
export async function memory(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await setImmediate(); // the numbers of collected arrays are freed in a task of their own
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

export const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
