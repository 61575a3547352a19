/** A mean with its 95 % confidence interval. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Resamples; more change the bounds by less than a tenth of a percent. */
const SAMPLES = 1_000;

/**
 * The mean of at least one value and its 95 % interval by the bootstrap. Lists of equal length are
 * sampled at the same places, so that intervals of several figures of the same queries are paired.
 */
export function meanInterval(values: readonly number[]): Interval {
  const random = randomNumbers();
  const means = Array.from({ length: SAMPLES }, () => {
    let sum = 0;
    for (let count = 0; count < values.length; count++)
      sum += values[Math.floor(random() * values.length)] as number;
    return sum / values.length;
  }).sort((a, b) => a - b);
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    low: means[Math.floor(0.025 * SAMPLES)] as number,
    high: means[Math.ceil(0.975 * SAMPLES) - 1] as number,
  };
}

/** Numbers from 0 to below 1, the same in each run (Park and Miller 1988). */
function randomNumbers(): () => number {
  let state = 20_240_229;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
