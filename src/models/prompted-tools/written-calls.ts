import { endOfValue, type JsonValue } from '../../core/internal/json.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { parseRepairedJson } from '../../core/internal/repair-json.js';
import { describe, reasonOf } from '../../core/errors/describe.js';

/** A call that a model has written in its text. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** JSON objects in a text. */
export interface WrittenObjects {
  readonly objects: readonly { readonly name: string | undefined; readonly value: JsonValue }[];
  /** The text around them. */
  readonly rest: string;
}

/**
 * Reads the JSON objects that follow each match of a pattern, up to results that the model has
 * invented: what it wrote after them stands on these.
 * @param start ends before an object; its group is the name that belongs to the object
 * @returns the problem if an object cannot be read
 */
export function readObjects(text: string, start: RegExp, results: RegExp): WrittenObjects | string {
  const objects = [];
  let rest = '';
  for (let at = 0; ;) {
    start.lastIndex = at;
    const match = start.exec(text);
    const between = text.slice(at, match?.index);
    const invented = between.search(results);
    rest += invented < 0 ? between : between.slice(0, invented);
    if (!match || invented >= 0) return { objects, rest };
    const begin = match.index + match[0].length;
    const end = endOfValue(text, begin);
    if (end === undefined) return 'a JSON object has no end';
    try {
      objects.push({ name: match[1], value: parseRepairedJson(text.slice(begin, end)) });
    } catch (error) {
      return `a JSON object is not valid: ${reasonOf(error)}`;
    }
    at = end;
  }
}

const NAMES = ['name', 'tool', 'function'];
const ARGUMENTS = ['arguments', 'parameters', 'args', 'input'];
const KNOWN: ReadonlySet<string> = new Set([...NAMES, ...ARGUMENTS, 'id', 'type']);

/** A call from an object with a name and arguments, under the usual names, or the problem with it. */
export function toWrittenCall(value: unknown): WrittenCall | string {
  if (!isPlainObject(value)) return `a call must be an object, not ${describe(value)}`;
  const { function: nested } = value;
  if (isPlainObject(nested)) return toWrittenCall(nested);
  // a name that is not known may hold arguments, without which the call would do something else
  const unknown = Object.keys(value).find((key) => !KNOWN.has(key));
  if (unknown !== undefined) return `a call has the unknown field ${describe(unknown)}`;
  const given = (keys: readonly string[]): readonly unknown[] =>
    keys.map((key) => value[key]).filter((each) => each !== undefined && each !== null);
  const [name, ...otherNames] = given(NAMES);
  const [args, ...otherArgs] = given(ARGUMENTS);
  if (typeof name !== 'string' || otherNames.length > 0) return 'a call needs one name';
  if (otherArgs.length > 0) return `the call of ${describe(name)} needs one object of arguments`;
  return toArguments(name, args);
}

function toArguments(name: string, args: unknown): WrittenCall | string {
  try {
    const value = typeof args === 'string' ? parseRepairedJson(args.trim() || '{}') : (args ?? {});
    if (isPlainObject(value)) return { name, arguments: value };
  } catch {
    // a text that is not JSON: the problem below
  }
  return `the arguments of ${describe(name)} must be one JSON object`;
}

/** All calls, or the first problem. */
export function toWrittenCalls(values: readonly unknown[]): readonly WrittenCall[] | string {
  const calls = values.map(toWrittenCall);
  const problem = calls.find((call) => typeof call === 'string');
  return problem ?? calls.filter((call) => typeof call !== 'string');
}
