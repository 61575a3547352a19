import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';

/** @throws {@link InvalidArgumentError} if a value is not a non-blank string */
export function requireText(value: unknown, where: string): asserts value is string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new InvalidArgumentError(`${where}: expected a non-blank text, not ${describe(value)}`);
}

/** @throws {@link InvalidArgumentError} if a value is missing */
export function requireValue(value: unknown, where: string): void {
  if (value === undefined || value === null) throw new InvalidArgumentError(`${where}: expected a value, not ${describe(value)}`);
}

/** @throws {@link InvalidArgumentError} if a value is not a plain object of named values */
export function requireValues(values: unknown, where: string): asserts values is Readonly<Record<string, unknown>> {
  if (typeof values !== 'object' || values === null || Symbol.iterator in values) {
    throw new InvalidArgumentError(`${where}: expected an object of named values, not ${describe(values)}`);
  }
  for (const [name, value] of Object.entries(values)) {
    requireText(name, `${where}: a name`);
    requireValue(value, `${where}: "${name}"`);
  }
}
