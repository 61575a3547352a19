import { describe } from '../chat/message.js';

/**
 * What a hook of the application gave, if it is right. A promise never is: nobody waits for it, and one that rejects must not end the process.
 * @throws TypeError if it is not
 */
export function hookValue<T>(hook: string, value: unknown, rule: string, isRight: (value: unknown) => value is T): T {
  if (value instanceof Promise) value.catch(() => undefined);
  else if (isRight(value)) return value;
  throw new TypeError(`${hook} must give ${rule}, not ${value instanceof Promise ? 'a promise' : describe(value)}`);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isName(value: unknown): value is string {
  return isText(value) && value.trim() !== '';
}

/** A plain object: of a map or a date nothing would be recorded. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
