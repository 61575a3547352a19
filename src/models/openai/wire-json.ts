/** A JSON object of the wire, of which nothing is certain. */
export type Wire = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A non-empty text, or nothing. */
export function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
