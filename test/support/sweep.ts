let share = 1 / 20;

/** Number of cases of a sweep: a sample in fast tests, all of them after {@link runFullSweeps}. */
export function sweep(cases: number): number {
  return Math.ceil(cases * share);
}

export function runFullSweeps(): void {
  share = 1;
}
