let share = 1 / 50;
/** Minimum number of cases, which `npm run fuzz` sets. */
let least = Number(process.env['FC_RUNS'] ?? 0);

/** Number of cases of a sweep: a sample in fast tests, all of them after {@link runFullSweeps}. */
export function sweep(cases: number): number {
  return Math.max(Math.ceil(cases * share), least);
}

/** From now on sweeps have all of their cases, and at least 500. */
export function runFullSweeps(): void {
  share = 1;
  least = Math.max(least, 500);
}

/** Cases of a sweep that are not random: every seventh in fast tests, all after {@link runFullSweeps}. */
export function sampled<T>(cases: readonly T[]): readonly T[] {
  return share === 1 ? cases : cases.filter((_case, at) => at % 7 === 0);
}
