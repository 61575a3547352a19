/** The cases are the same in every run, so the checks take a sample of them; `SWEEPS=full` takes all. */
export const inFull = <T>(all: T, sample: T): T =>
  process.env['SWEEPS'] === 'full' ? all : sample;

let share = 1 / 50;
let isFull = false;
/** Minimum number of cases, which `npm run fuzz` sets. */
let least = Number(process.env['FC_RUNS'] ?? 0);

/** Number of cases of a sweep: a sample in fast tests, more of them after {@link runFullSweeps}; `npm run fuzz` runs more. */
export function sweep(cases: number): number {
  return Math.max(Math.ceil(cases * share), least);
}

/** True after {@link runFullSweeps}. */
export const isFullSweep = (): boolean => isFull;

/**
 * From now on sweeps have all cases that are not random, and a tenth of the others, at least 150; with `SWEEPS=full` two fifths, at least 500.
 */
export function runFullSweeps(): void {
  isFull = true;
  share = inFull(2 / 5, 1 / 10);
  least = Math.max(least, inFull(500, 150));
}

/** Cases of a sweep that are not random: every seventh in fast tests, all after {@link runFullSweeps}. */
export function sampled<T>(cases: readonly T[]): readonly T[] {
  return isFull ? cases : cases.filter((_case, at) => at % 7 === 0);
}
