import { InvalidArgumentError } from '../errors.js';
import { describe } from './text.js';

/** A rule for a value: its wording, as in "must be an integer >= 1", and its check. */
export interface Rule {
  readonly text: string;
  readonly accepts: (value: unknown) => boolean;
}

const isInteger = (value: unknown, min: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= min;
const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && !Number.isNaN(value);

/** The range of `setTimeout`; a longer delay fires at once. */
const MAX_DELAY = 2 ** 31;

export const BOOLEAN: Rule = rule('true or false', (value) => typeof value === 'boolean');
export const FUNCTION: Rule = rule('a function', (value) => typeof value === 'function');
export const TEXT: Rule = rule(
  'a non-blank string',
  (value) => typeof value === 'string' && value.trim() !== '',
);
export const PLAIN_OBJECT: Rule = rule('a plain object', isPlainObject);
export const FINITE: Rule = rule('a finite number', Number.isFinite);
export const POSITIVE: Rule = rule('a number > 0', (value) => isNumber(value) && value > 0);
/** A time limit in milliseconds. */
export const TIMEOUT: Rule = rule(
  'a number of milliseconds > 0 and < 2 ** 31, or Infinity',
  (value) => isNumber(value) && value > 0 && (value < MAX_DELAY || value === Infinity),
);

/** A wait in milliseconds. */
export const WAIT: Rule = rule(
  'a number of milliseconds >= 0 and < 2 ** 31',
  (value) => isNumber(value) && value >= 0 && value < MAX_DELAY,
);

export function rule(text: string, accepts: (value: unknown) => boolean): Rule {
  return { text, accepts };
}

export function integer(min: number): Rule {
  return rule(`an integer >= ${min}`, (value) => isInteger(value, min));
}

export function integerOrInfinity(min: number): Rule {
  const accepts = (value: unknown): boolean => value === Infinity || isInteger(value, min);
  return rule(`an integer >= ${min} or Infinity`, accepts);
}

export function numberBetween(min: number, max: number): Rule {
  const accepts = (value: unknown): boolean => isNumber(value) && value >= min && value <= max;
  return max === Infinity
    ? rule(`a number >= ${min}`, accepts)
    : rule(`a number from ${min} to ${max}`, accepts);
}

export function oneOf(...values: readonly string[]): Rule {
  const quoted = values.map((value) => `'${value}'`);
  const text = [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean).join(' or ');
  return rule(text, (value) => values.includes(value as string));
}

export function arrayOf(...values: readonly string[]): Rule {
  const { text, accepts } = oneOf(...values);
  return rule(`an array of ${text}`, (value) => Array.isArray(value) && value.every(accepts));
}

/** A rule that accepts functions too. */
export function orFunction({ text, accepts }: Rule): Rule {
  return rule(`${text} or a function`, (value) => typeof value === 'function' || accepts(value));
}

/** An object with methods of these names, described as `text`. */
export function withMethods(text: string, ...names: readonly string[]): Rule {
  return rule(text, (value) => hasMethods(value, names));
}

export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (value === undefined || value === null) return false;
  const methods = value as Readonly<Record<string, unknown>>;
  // a closure would be an object for each request and response
  for (const name of names) if (typeof methods[name] !== 'function') return false;
  return true;
}

/** A JSON object from outside, of whose fields nothing is certain. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is a non-empty string. */
export function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** @throws {@link InvalidArgumentError} "where: name must be ..., not ..." */
export function checkOption(where: string, name: string, value: unknown, rule: Rule): void {
  if (rule.accepts(value)) return;
  throw new InvalidArgumentError(`${where}: ${name} must be ${rule.text}, not ${describe(value)}`);
}

/**
 * Checks every option that has a rule and a value; absent options pass.
 * @param path a prefix of the names in messages
 * @throws {@link InvalidArgumentError} for the first value that breaks its rule
 */
export function checkOptions<T extends object>(
  where: string,
  options: T,
  rules: { readonly [K in keyof T]?: Rule },
  path = '',
): void {
  for (const name of Object.keys(rules) as (keyof T & string)[]) {
    const [value, rule] = [options[name], rules[name]];
    if (value !== undefined && rule) checkOption(where, path + name, value, rule);
  }
}
