import { expect } from 'chai';

/** Rounds of a measurement; the best of each size counts, since a busy machine only adds time. */
const ROUNDS = 6;

/**
 * Expects that eight times the input takes less than 24 times as long; quadratic time would take 64.
 * @param timeOf processor time in milliseconds for so many items
 * @param least milliseconds that a small measurement has at least, below which clocks are coarse
 */
export function expectLinearTime(
  timeOf: (count: number) => number,
  count: number,
  least = 4,
): void {
  timeOf(count); // compiles the functions
  let [small, large] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++) {
    small = Math.min(small, timeOf(count));
    large = Math.min(large, timeOf(8 * count));
    if (round > 0 && large < 24 * Math.max(small, least)) return;
  }
  expect(large).to.be.below(24 * Math.max(small, least));
}
