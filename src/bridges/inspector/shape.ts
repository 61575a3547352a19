import { describe } from '../../core/errors/describe.js';
import { isPlainObject } from '../../core/internal/options.js';

/** A check of JSON data: the problem of a value at a path, or undefined. */
export type Shape = (value: unknown, path: string) => string | undefined;

const must =
  (what: string, accepts: (value: unknown) => boolean): Shape =>
  (value, path) =>
    accepts(value) ? undefined : `${path || 'the file'} must be ${what}, not ${describe(value)}`;

export const text = must('a string', (value) => typeof value === 'string');
export const number = must('a number', Number.isFinite);
export const nothing = must('null', (value) => value === null);
export const flag = must('true or false', (value) => typeof value === 'boolean');
/** Any value: all of a file is JSON. */
export const json: Shape = () => undefined;

export function oneOf(...values: readonly string[]): Shape {
  return must(`one of ${values.join(', ')}`, (value) => values.includes(value as string));
}

export function list(item: Shape): Shape {
  const isList = must('a list', Array.isArray);
  return (value, path) => {
    const problem = isList(value, path);
    if (problem !== undefined) return problem;
    return firstProblem(value as readonly unknown[], (each, at) => item(each, `${path}[${at}]`));
  };
}

const isObject = must('an object', isPlainObject);

/** An object with values of one shape. */
export function map(item: Shape): Shape {
  return (value, path) =>
    isObject(value, path) ??
    firstProblem(Object.entries(value as object), ([name, each]) => item(each, `${path}.${name}`));
}

/** An object with these fields; others are ignored. */
export function fields(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  const all = [
    ...Object.entries(required).map(([name, shape]) => ({ name, shape, isRequired: true })),
    ...Object.entries(optional).map(([name, shape]) => ({ name, shape, isRequired: false })),
  ];
  return (value, path) =>
    isObject(value, path) ??
    firstProblem(all, ({ name, shape, isRequired }) => {
      const field = Object.hasOwn(value as object, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined;
      if (field === undefined && !isRequired) return undefined;
      return shape(field, path ? `${path}.${name}` : name);
    });
}

/** A value of one of several shapes; the problem is the one of the last. */
export function anyOf(...shapes: readonly Shape[]): Shape {
  return (value, path) => {
    let problem: string | undefined;
    for (const shape of shapes) {
      problem = shape(value, path);
      if (problem === undefined) return undefined;
    }
    return problem;
  };
}

function firstProblem<T>(
  items: readonly T[],
  problemOf: (item: T, at: number) => string | undefined,
): string | undefined {
  for (let at = 0; at < items.length; at++) {
    const problem = problemOf(items[at] as T, at);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
