import type { JsonValue } from '../../../../core/internal/json.js';

/** The value of a JSON text; undefined for other texts. */
export function parsedJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The object that a reader has written as JSON, or the problem of the text. */
export function writtenObject(
  text: string,
): { readonly value: Readonly<Record<string, JsonValue>> } | { readonly problem: string } {
  if (text.trim() === '') return { value: {} };
  const written = writtenJson(text);
  if ('problem' in written) return written;
  const { value } = written;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problem: 'Write a JSON object, such as { "temperature": 0 }' };
  return { value: value as Readonly<Record<string, JsonValue>> };
}

/** The value that a reader has written as JSON, or the problem of the text. */
export function writtenJson(
  text: string,
): { readonly value: JsonValue } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { problem: `This is not valid JSON: ${(error as Error).message}` };
  }
}
