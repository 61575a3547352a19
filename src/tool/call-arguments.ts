import { parseJson, type JsonValue } from '../chat/json.js';
import type { ToolCall } from '../chat/message.js';

/**
 * The arguments of a call as a value; a blank text and `null` stand for no arguments.
 * @throws JsonError if the text is not JSON
 */
export function parseArguments(text: string): JsonValue {
  return text.trim() === '' ? {} : (parseJson(text) ?? {});
}

/** What calls ask for, to be compared with {@link sameCalls}: their arguments are read once, however often they are compared. */
export type ReadCalls = readonly (readonly [name: string, args: unknown])[];

/** Arguments that are not JSON stay the text they are. */
export function readCalls(calls: readonly ToolCall[]): ReadCalls {
  return calls.map((call) => [call.name, readArguments(call.arguments)]);
}

/** Whether two batches ask for the same, whatever the spelling of their arguments. */
export function sameCalls(a: ReadCalls, b: ReadCalls): boolean {
  return a.length === b.length && a.every(([name, args], at) => name === b[at]?.[0] && sameJson(args, b[at][1]));
}

/** No need for the strict parser: nothing is done with the value but to compare it. */
function readArguments(text: string): unknown {
  try {
    return text.trim() === '' ? {} : (JSON.parse(text) ?? {});
  } catch {
    return text;
  }
}

function sameJson(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (depth > MAX_DEPTH) return false; // no honest arguments are that deep
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && sameJson((a as ReadArguments)[name], (b as ReadArguments)[name], depth + 1));
}

const MAX_DEPTH = 200;

type ReadArguments = Readonly<Record<string, unknown>>;
