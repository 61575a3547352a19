import type { ToolCall } from '../chat/message.js';
import { ToolDefinitionError, ToolError, type JsonError } from '../errors.js';
import { untilCancelled } from '../internal/cancellation.js';
import { describe } from '../internal/text.js';
import { parseJson, type JsonValue } from '../internal/json.js';
import { dropOptionalNulls } from '../json-schema/drop-optional-nulls.js';
import type { Validation } from '../json-schema/validator.js';
import { resolveTool, type ToolResolver } from '../tool/resolve-tools.js';
import { truncateText } from '../tool/tool-result.js';
import type { Tool } from '../tool/tool.js';
import type { BatchContext } from './tool-run.js';

/** A call after the checks: to be run, failed, or refused whatever it contains. */
export type CheckedCall =
  | {
      readonly state: 'valid';
      readonly call: ToolCall;
      readonly tool: Tool;
      readonly arguments: unknown;
      /** The concurrency key. */
      readonly key: string | undefined;
    }
  | {
      readonly state: 'failed';
      readonly call: ToolCall;
      readonly tool: Tool | undefined;
      readonly error: unknown;
      /** True if the tool is known and the arguments are valid. */
      readonly accepted: boolean;
    }
  | { readonly state: 'refused'; readonly call: ToolCall; readonly reason: string };

const MAX_NAMES = 30;

/**
 * Checks a call before any call of its batch runs. Never throws; asynchronous only if a resolver or
 * a schema is.
 */
export function checkCall(
  call: ToolCall,
  reason: string | undefined,
  batch: BatchContext,
): CheckedCall | Promise<CheckedCall> {
  if (reason !== undefined) return { state: 'refused', call, reason };
  if (batch.cancellation.cancelled)
    return { state: 'refused', call, reason: 'The run was cancelled.' };
  const tool = batch.tools.get(call.name);
  if (tool) return checkArguments(call, tool, batch);
  return batch.resolver ? checkResolved(call, batch.resolver, batch) : unknownTool(call, batch);
}

async function checkResolved(
  call: ToolCall,
  resolver: ToolResolver,
  batch: BatchContext,
): Promise<CheckedCall> {
  const { advisorContext, values: toolContext, cancellation } = batch;
  const request = {
    advisorContext,
    toolContext,
    get signal() {
      return cancellation.signal;
    },
  };
  try {
    const tool = await untilCancelled(resolveTool(resolver, call.name, request), cancellation);
    return tool ? await checkArguments(call, tool, batch) : unknownTool(call, batch);
  } catch (error) {
    return { state: 'failed', call, tool: undefined, error, accepted: false };
  }
}

function unknownTool(call: ToolCall, { offered }: BatchContext): CheckedCall {
  const names = offered.slice(0, MAX_NAMES).map((tool) => tool.definition.name);
  const more = offered.length > MAX_NAMES ? ` and ${offered.length - MAX_NAMES} more` : '';
  const list =
    names.length > 0
      ? `Tools you can call: ${names.join(', ')}${more}.`
      : 'There are no tools to call.';
  const name = JSON.stringify(truncateText(call.name, 100));
  const error = new ToolError(`There is no tool ${name}. ${list}`);
  return { state: 'failed', call, tool: undefined, error, accepted: false };
}

function checkArguments(
  call: ToolCall,
  tool: Tool,
  { cancellation }: BatchContext,
): CheckedCall | Promise<CheckedCall> {
  const schemaFailed = (cause: unknown): CheckedCall =>
    invalidArguments(call, tool, ['they could not be checked: the schema failed on them'], cause);
  try {
    const validation = validate(call.arguments, tool);
    return isThenable(validation)
      ? untilCancelled(Promise.resolve(validation), cancellation)
          .then((each) => toCheckedCall(call, tool, each))
          .catch(schemaFailed)
      : toCheckedCall(call, tool, validation);
  } catch (error) {
    return schemaFailed(error);
  }
}

/** @throws the error of the tool's schema */
function validate(
  text: string,
  tool: Tool,
): (Validation & { readonly cause?: unknown }) | PromiseLike<Validation> {
  let args: JsonValue;
  try {
    args = parseArguments(text);
  } catch (error) {
    return { issues: [(error as JsonError).message], cause: error };
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return { issues: ['they must be one JSON object'] };
  if (text.includes('null')) args = dropOptionalNulls(args, tool.definition.inputSchema);
  return tool.validate ? tool.validate(args) : { value: args };
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { readonly then?: unknown }).then === 'function';
}

function toCheckedCall(
  call: ToolCall,
  tool: Tool,
  validation: Validation & { readonly cause?: unknown },
): CheckedCall {
  if (!('value' in validation))
    return invalidArguments(call, tool, validation.issues, validation.cause);
  try {
    const key = concurrencyKeyOf(tool, validation.value);
    return { state: 'valid', call, tool, arguments: validation.value, key };
  } catch (error) {
    return { state: 'failed', call, tool, error, accepted: true };
  }
}

function invalidArguments(
  call: ToolCall,
  tool: Tool,
  issues: readonly string[],
  cause: unknown,
): CheckedCall {
  const list = issues.map((issue) => `- ${issue}`).join('\n');
  const message = `The arguments of "${call.name}" are not valid:\n${list}`;
  const error = new ToolError(message, cause === undefined ? {} : { cause });
  return { state: 'failed', call, tool, error, accepted: false };
}

/** @throws the error of the tool's function, {@link ToolDefinitionError} if it returns no string */
function concurrencyKeyOf({ definition, metadata }: Tool, args: unknown): string | undefined {
  const { effect, concurrencyKey } = metadata;
  if (!concurrencyKey) return effect === 'write' ? definition.name : undefined;
  const key: unknown = concurrencyKey(args);
  if (key === undefined || typeof key === 'string') return key;
  if (key instanceof Promise) key.catch(() => undefined); // a rejection would be unhandled
  const { name } = definition;
  const message = `tool ${describe(name)}: concurrencyKey must return a string or undefined, not ${describe(key)}`;
  throw new ToolDefinitionError(message, name);
}

/**
 * The arguments of a call as a value; blank text and `null` mean no arguments.
 * @throws {@link JsonError} if the text is not JSON
 */
export function parseArguments(text: string): JsonValue {
  return text.trim() === '' ? {} : (parseJson(text) ?? {});
}

/** Names and parsed arguments of calls, for comparisons with {@link sameCalls}. */
export type ReadCalls = readonly (readonly [name: string, args: unknown])[];

/** Parses the arguments of calls once for many comparisons; invalid JSON stays text. */
export function readCalls(calls: readonly ToolCall[]): ReadCalls {
  return calls.map((call) => [call.name, readArguments(call.arguments)]);
}

/** Compares two batches by their names and arguments as values. */
export function sameCalls(a: ReadCalls, b: ReadCalls): boolean {
  return (
    a.length === b.length &&
    a.every(([name, args], at) => name === b[at]?.[0] && sameJson(args, b[at][1]))
  );
}

/** Does not need the strict parser: the value is only compared. */
function readArguments(text: string): unknown {
  try {
    return text.trim() === '' ? {} : (JSON.parse(text) ?? {});
  } catch {
    return text;
  }
}

/** Deeper values count as different, which protects the stack. */
const MAX_DEPTH = 200;

function sameJson(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (depth > MAX_DEPTH || !isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b))
    return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name], depth + 1))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
