/** What a time limit must be, for messages. */
export const TIMEOUT_RULE = 'a number of milliseconds above 0 and below 2 ** 31, or Infinity';

/** Whether a value can be a time limit: a timer that is set to a longer time fires at once. */
export function isTimeout(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && (value < 2 ** 31 || value === Infinity);
}
