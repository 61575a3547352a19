import { describe } from '../internal/text.js';
import { isPlainObject, rule, type Rule } from '../internal/options.js';

/** A plain object; nothing would be recorded of a map or a date. */
export const ATTRIBUTES: Rule = rule('a plain object', (value) => {
  if (!isPlainObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
});

/**
 * Checks the result of an application's hook. Hooks are synchronous: promises are rejected, and
 * must not cause an unhandled rejection.
 * @throws TypeError if the value breaks the rule
 */
export function checkHookResult(hook: string, value: unknown, { text, accepts }: Rule): void {
  const isPromise = value instanceof Promise;
  if (isPromise) value.catch(() => undefined);
  if (!isPromise && accepts(value)) return;
  const found = isPromise ? 'a promise' : describe(value);
  throw new TypeError(`${hook} must return ${text}, not ${found}`);
}
