import type { ModelCallRecord } from './run-report.js';

/** Returns the price of a model call of the ledger, >= 0, in a currency of your choice. */
export type PriceOfCall = (call: ModelCallRecord) => number;

/** True for an amount that can be added: a text or NaN would spoil every sum. */
export const isAmount = (value: unknown): value is number =>
  Number.isFinite(value) && (value as number) >= 0;

/**
 * The sum of the prices of calls; undefined without a price, or if the price of one call is unknown: a
 * sum without it would be too low.
 */
export function costOf(
  calls: readonly ModelCallRecord[],
  price: PriceOfCall | undefined,
): number | undefined {
  if (!price) return undefined;
  let sum = 0;
  try {
    for (const call of calls) {
      const cost: unknown = price(call);
      if (!isAmount(cost)) return undefined;
      sum += cost;
    }
  } catch {
    return undefined; // reports are read where errors are handled, which this one would replace
  }
  return sum;
}
