/** A JSON object from outside, of whose fields nothing is certain. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value if it is a non-empty string. */
export function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
