/** The values that a function gives; the array itself if it gives each value back. */
export function mapOrSame<T>(
  values: readonly T[],
  change: (value: T, at: number) => T,
): readonly T[] {
  const changed = values.map(change);
  return changed.every((value, at) => value === values[at]) ? values : changed;
}
