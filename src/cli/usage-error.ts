/** A wrong use of the command line: ends with exit code 2 and a hint at the help. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
