import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { invalidInput } from '../http/index.js';

/** Reads a field of a request: its value, and the path that an error names. Null is no value. */
export type Reader<T> = (value: unknown, path: string) => T;

/** @throws InvalidArgumentError that is answered by 400 */
export function refuse(path: string, text: string): never {
  throw invalidInput(`${path}: ${text}.`);
}

export function optional<T>(
  object: JsonObject,
  name: string,
  path: string,
  read: Reader<T>,
): T | undefined {
  const value = object[name];
  return value === undefined || value === null ? undefined : read(value, path + name);
}

export function needed<T>(object: JsonObject, name: string, path: string, read: Reader<T>): T {
  const value = object[name];
  return value === undefined || value === null
    ? refuse(path + name, 'it is missing')
    : read(value, path + name);
}

export const asText: Reader<string> = (value, path) =>
  typeof value === 'string' ? value : refuse(path, 'it must be a string');

/** A text of at most so many characters that is not empty. */
export const asName =
  (max: number): Reader<string> =>
  (value, path) => {
    const text = asText(value, path);
    if (text.trim() !== '' && text.length <= max) return text;
    return refuse(path, `it must have 1 to ${max} characters`);
  };

export const asFunctionName: Reader<string> = (value, path) => {
  const text = asText(value, path);
  if (/^[\w-]{1,64}$/.test(text)) return text;
  return refuse(path, 'it must have 1 to 64 letters, digits, "_" or "-"');
};

export const asBoolean: Reader<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : refuse(path, 'it must be true or false');

export const asNumber =
  (min: number, max: number): Reader<number> =>
  (value, path) =>
    typeof value === 'number' && value >= min && value <= max
      ? value
      : refuse(path, `it must be a number from ${min} to ${max}`);

export const asInteger =
  (min: number): Reader<number> =>
  (value, path) =>
    Number.isSafeInteger(value) && (value as number) >= min
      ? (value as number)
      : refuse(path, `it must be an integer >= ${min}`);

export const asObject: Reader<JsonObject> = (value, path) =>
  isPlainObject(value) ? value : refuse(path, 'it must be an object');

export const asList =
  <T>(max: number, read: Reader<T>): Reader<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value)) return refuse(path, 'it must be an array');
    if (value.length > max) return refuse(path, `it has more than ${max} items`);
    return value.map((item: unknown, at) => read(item, `${path}[${at}]`));
  };
