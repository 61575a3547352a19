/** Inverse document frequency: rare words count more. */
export function idf(withWord: number, all: number): number {
  return Math.log(1 + (all - withWord + 0.5) / (withWord + 0.5));
}
