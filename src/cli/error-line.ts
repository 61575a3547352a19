/** An error on one line; errors of several addresses have no message of their own. */
export function errorLine(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return errorLine(error.errors[0] as unknown);
  const { message, name } = (error ?? {}) as {
    readonly message?: unknown;
    readonly name?: unknown;
  };
  const text = typeof message === 'string' && message !== '' ? message : String(name ?? error);
  return text.replaceAll(/\s*\n\s*/g, ' ').trim();
}
