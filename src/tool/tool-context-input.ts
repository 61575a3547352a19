import type { ToolContextValues } from '../chat/chat-options.js';
import { ContextKey } from '../chat/context.js';
import { describe } from '../chat/message.js';
import { InvalidArgumentError } from '../errors.js';

/** Values for tools by name, or one value under the name of a key, with the key's type. */
export type ToolContextInput<T> = readonly [values: ToolContextValues] | readonly [key: ContextKey<T>, value: NonNullable<T>];

/** @throws {@link InvalidArgumentError} if there is a key without a value, or a value without a key */
export function toolContextValues(input: ToolContextInput<unknown>, where: string): ToolContextValues {
  const [first] = input;
  if (input.length < 2 && !(first instanceof ContextKey)) return first;
  if (input.length < 2) throw new InvalidArgumentError(`${where}: expected a value for the key "${String(first.name)}"`);
  if (typeof first?.name !== 'string')
    throw new InvalidArgumentError(`${where}: expected a ContextKey and its value, or an object of named values, not ${describe(first)}`);
  return { [first.name]: input[1] };
}
