/** A short description of a value for errors; never throws or shows the content of objects. */
export function describe(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Message of an error, also if a client throws something other than an `Error`. */
export function reasonOf(cause: unknown): string {
  return (cause as Partial<Error> | null)?.message ?? describe(cause);
}
