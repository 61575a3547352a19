let share = 1 / 50;
let isFull = false;
/** Minimum number of cases, which `npm run fuzz` sets. */
let least = Number(process.env['FC_RUNS'] ?? 0);

/** Number of cases of a sweep: a sample in fast tests, two fifths of them after {@link runFullSweeps}; `npm run fuzz` runs more. */
export function sweep(cases: number): number {
  return Math.max(Math.ceil(cases * share), least);
}

/** True after {@link runFullSweeps}. */
export const isFullSweep = (): boolean => isFull;

/** From now on sweeps have two fifths of their random cases, at least 500, and all others. */
export function runFullSweeps(): void {
  isFull = true;
  share = 2 / 5;
  least = Math.max(least, 500);
}

/** Cases of a sweep that are not random: every seventh in fast tests, all after {@link runFullSweeps}. */
export function sampled<T>(cases: readonly T[]): readonly T[] {
  return isFull ? cases : cases.filter((_case, at) => at % 7 === 0);
}
