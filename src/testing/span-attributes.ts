import { cut } from '../chat/cut.js';

/** What a span or an event was given: by anybody, and of any kind. */
export type FoundAttributes = Readonly<Record<string, unknown>> | null | undefined;

export function numberIn(attributes: FoundAttributes, name: string): number | undefined {
  const value = attributes?.[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A text, a number, or a list of them; undefined if it is none of these or says nothing. */
export function textIn(attributes: FoundAttributes, name: string): string | undefined {
  const value = attributes?.[name];
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((item) => typeof item === 'string' || typeof item === 'number').join(', ') || undefined;
}

/** A text on one line, and not a long one: without what moves the cursor of a terminal. */
export function onOneLine(text: unknown, maxLength: number): string {
  const line = String(text).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ');
  return line.length > maxLength ? `${cut(line, maxLength)}…` : line;
}
