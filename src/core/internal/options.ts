import { InvalidArgumentError } from '../errors/errors.js';
import { describe } from '../errors/describe.js';
import { nameHint } from './name-hint.js';

/** A rule for a value: its wording, as in "must be an integer >= 1", and its check. */
export interface Rule {
  readonly text: string;
  readonly accepts: (value: unknown) => boolean;
  /** An absent option breaks the rule, too. @default false */
  readonly isRequired?: boolean;
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
const ID_CHARACTERS = /^[^\0\p{Surrogate}]*$/u;
const ID_TEXT = 'of at most 512 characters, without NUL and unpaired surrogates';
/** A part of an id, such as a prefix; also the empty one. */
export const PART_OF_ID: Rule = rule(
  `a string ${ID_TEXT}`,
  (id) => typeof id === 'string' && id.length <= 512 && ID_CHARACTERS.test(id),
);
/** The id of a turn or a conversation, which every store takes. */
export const ID: Rule = rule(
  `a non-blank string ${ID_TEXT}`,
  (id) => TEXT.accepts(id) && PART_OF_ID.accepts(id),
);
/** Accepts all values: of an option with a check of its own. */
export const CHECKED_APART: Rule = rule('a value', () => true);
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

/** A rule that an absent option breaks. */
export function required(rule: Rule): Rule {
  return { ...rule, isRequired: true };
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

/** A rule for each option of an object, so that its names are known. */
export type OptionRules<T> = { readonly [K in keyof T]-?: Rule };

/**
 * Checks the options of a part of the library. A misspelt name would be ignored silently, so unknown
 * ones are refused.
 * @param path a prefix of the names in messages
 * @param advice for an unknown name that is near to no known one; @default the known names
 * @throws {@link InvalidArgumentError} for the first name without a rule, or value that breaks its rule
 */
export function checkOptions<T extends object>(
  where: string,
  options: T,
  rules: OptionRules<T>,
  path = '',
  advice?: string,
): void {
  if (options !== undefined)
    checkOption(where, path === '' ? 'options' : path.slice(0, -1), options, PLAIN_OBJECT);
  for (const name of Object.keys(options ?? {})) {
    if (Object.hasOwn(rules, name)) continue;
    const hint = nameHint(name, Object.keys(rules), advice);
    throw new InvalidArgumentError(`${where}: there is no option \`${path}${name}\`; ${hint}`);
  }
  checkFields(where, options, rules, path);
}

/**
 * Checks the fields that have a rule and a value; absent ones pass, unless they are required, and so
 * do fields without a rule.
 * @param path a prefix of the names in messages
 * @throws {@link InvalidArgumentError} for the first value that breaks its rule
 */
export function checkFields<T extends object>(
  where: string,
  fields: T,
  rules: Partial<OptionRules<T>>,
  path = '',
): void {
  for (const name of Object.keys(rules) as (keyof T & string)[]) {
    const [value, rule] = [fields?.[name], rules[name]];
    if (rule && (value !== undefined || rule.isRequired))
      checkOption(where, path + name, value, rule);
  }
}
