import { isWhole } from '../chat/chat-response.js';
import type { ToolCall } from '../chat/message.js';
import { JsonError, ToolDefinitionError, ToolError } from '../errors/errors.js';
import { isPromise, untilCancelled } from '../internal/cancellation.js';
import { hasMoreValues, parseWritten, type JsonValue } from '../internal/json.js';
import { isPlainObject } from '../internal/options.js';
import { isCutJson } from '../internal/partial-json.js';
import { describe } from '../errors/describe.js';
import { TimeSlice } from '../internal/time-slice.js';
import { dropOptionalNulls } from '../json-schema/drop-optional-nulls.js';
import type { CheckLimits, Validation } from '../json-schema/validator.js';
import { resolveTool, type ToolResolver } from '../tool/tool-provider.js';
import type { Tool } from '../tool/tool.js';
import type { BatchCall } from './batch-call.js';
import { exceededError } from './call-limits.js';
import type { ManagerSettings } from './manager-options.js';

const MAX_NAMES = 30;

/**
 * Checks a call before any call of its batch runs. Never throws; asynchronous only if a resolver or
 * a schema is.
 * @param reason the text for the model in place of a result; undefined if the call may run
 */
export function checkCall(checked: BatchCall, reason: string | undefined): Promise<void> | void {
  const { call, batch } = checked;
  const tool = batch.toolOf(call);
  if (tool) checked.tool = tool;
  if (reason !== undefined || batch.cancellation.cancelled)
    return checked.reject('refused', reason);
  if (tool) return checkArguments(checked, tool);
  const { resolver } = batch.settings;
  return resolver ? checkResolved(checked, resolver) : rejectUnknown(checked);
}

async function checkResolved(checked: BatchCall, resolver: ToolResolver): Promise<void> {
  const { call, batch } = checked;
  const { advisorContext, values: toolContext, cancellation } = batch;
  try {
    const request = { advisorContext, toolContext, signal: cancellation.signal };
    const tool = await untilCancelled(resolveTool(resolver, call.name, request), cancellation);
    await (tool ? checkArguments(checked, tool) : rejectUnknown(checked));
  } catch (error) {
    checked.reject('unknown_tool', error);
  }
}

function rejectUnknown(checked: BatchCall): void {
  const { run, tools } = checked.batch;
  const offered = run.offered ?? [...tools.values()];
  const names = offered.slice(0, MAX_NAMES).map((tool) => tool.definition.name);
  const more = offered.length > MAX_NAMES ? ` and ${offered.length - MAX_NAMES} more` : '';
  const list =
    names.length > 0
      ? `Tools you can call: ${names.join(', ')}${more}.`
      : 'There are no tools to call.';
  const problem = `There is no tool ${describe(checked.call.name)}. ${list}`;
  checked.reject('unknown_tool', new ToolError(problem));
}

function checkArguments(checked: BatchCall, tool: Tool): Promise<void> | void {
  const { call, batch } = checked;
  const { cancellation, settings } = batch;
  checked.tool = tool;
  const exceeded = exceededLimit(call, settings);
  if (exceeded) return checked.reject('invalid_arguments', exceeded);
  const schemaFailed = (cause: unknown): void =>
    rejectArguments(checked, ['they could not be checked: the schema failed on them'], cause);
  try {
    const validation = checkArgumentsText(call.arguments, tool, settings);
    return isPromise(validation)
      ? untilCancelled(Promise.resolve(validation), cancellation)
          .then((each) => acceptValid(checked, tool, each))
          .catch(schemaFailed)
      : acceptValid(checked, tool, validation);
  } catch (error) {
    return error instanceof JsonError
      ? rejectArguments(checked, [error.message], error)
      : schemaFailed(error);
  }
}

/**
 * The arguments of a call as a value; blank text, `null` and a missing text mean no arguments.
 * @throws {@link JsonError} if the text is not JSON, or a number in it would lose digits
 */
export function parseArguments(text: string | null | undefined): JsonValue {
  if (typeof (text ?? '') !== 'string')
    throw new JsonError(`they must be the text of a JSON object, not ${describe(text)}`);
  return text?.trim() ? (parseWritten(text) ?? {}) : {};
}

/**
 * Parses and checks the arguments of a call.
 * @throws {@link JsonError}, the error of the tool's schema
 */
export function checkArgumentsText(
  text: string,
  tool: Tool,
  limits?: CheckLimits,
): Validation | Promise<Validation> {
  const parsed = parseArguments(text);
  if (!isPlainObject(parsed)) return { issues: ['they must be one JSON object'] };
  const args = text?.includes('null')
    ? dropOptionalNulls(parsed, tool.definition.inputSchema)
    : parsed;
  return tool.validate ? tool.validate(args, limits) : { value: args };
}

function acceptValid(checked: BatchCall, tool: Tool, validation: Validation): void {
  if (!('value' in validation))
    return rejectArguments(checked, validation.issues, validation.cause);
  const { value } = validation;
  checked.arguments = value;
  try {
    checked.key = concurrencyKeyOf(tool, value);
  } catch (error) {
    checked.reject('error', error);
  }
}

/** The error of arguments that are too large to be parsed. */
function exceededLimit(
  { name, arguments: text }: ToolCall,
  { maxArgumentsLength, maxArgumentsValues }: ManagerSettings,
): ToolError | undefined {
  const errorOf = (value: number, spent: number, unit: string, part: string): ToolError => {
    const problem = `The arguments of "${name}" have more than ${value} ${unit}`;
    const limit = `arguments-${part.toLowerCase()}`;
    return exceededError(problem, name, { limit, value, spent, option: `maxArguments${part}` });
  };
  if (text?.length > maxArgumentsLength)
    return errorOf(maxArgumentsLength, text.length, 'characters', 'Length');
  return typeof text === 'string' && hasMoreValues(text, maxArgumentsValues)
    ? errorOf(maxArgumentsValues, maxArgumentsValues + 1, 'JSON values', 'Values')
    : undefined;
}

function rejectArguments(checked: BatchCall, issues: readonly string[], cause?: unknown): void {
  const list = issues.map((issue) => `- ${issue}`).join('\n');
  const message = `The arguments of "${checked.call.name}" are not valid:\n${list}`;
  const error = new ToolError(message, cause === undefined ? {} : { cause });
  checked.reject('invalid_arguments', error);
}

/** @throws the error of the tool's function, {@link ToolDefinitionError} if it returns no string */
function concurrencyKeyOf({ definition, metadata }: Tool, args: unknown): string | undefined {
  const { effect, concurrencyKey } = metadata;
  const { name } = definition;
  if (!concurrencyKey) return effect === 'write' ? name : undefined;
  const key: unknown = concurrencyKey(args);
  if (key === undefined || typeof key === 'string') return key;
  if (key instanceof Promise) key.catch(() => undefined); // a rejection would be unhandled
  const message = `tool ${describe(name)}: concurrencyKey must return a string or undefined, not ${describe(key)}`;
  throw new ToolDefinitionError(message, name);
}

/** The text for the model in place of all results if its answer was broken off. */
export function describeBrokenOff(finishReason = ''): string | undefined {
  if (isWhole({ finishReason })) return undefined;
  return `Not run: your answer was cut off before its end (finish reason ${describe(finishReason)}). Send the call again, shorter if possible.`;
}

/**
 * Refuses the whole calls of a batch if another one was cut off, which shows that the answer was,
 * whatever its finish reason.
 */
export async function refuseIfCut(calls: readonly BatchCall[]): Promise<void> {
  if (calls.every(({ outcome }) => outcome === 'success') || !(await hasCut(calls))) return;
  for (const call of calls) if (call.outcome === 'success') call.reject('refused', NOT_RUN);
}

const NOT_RUN =
  'Not run: your answer was cut off, the arguments of another call end early. Send all calls again.';

/** Looks at the calls in slices of time: their arguments may have megabytes. */
async function hasCut(calls: readonly BatchCall[]): Promise<boolean> {
  const slice = new TimeSlice();
  for (const checked of calls) {
    const found = isCut(checked);
    await slice.next();
    if (found) return true;
  }
  return false;
}

function isCut({ call, outcome }: BatchCall): boolean {
  const text: unknown = call.arguments;
  if (typeof text !== 'string' || !isCutJson(text)) return false;
  // blank text means no arguments
  return outcome === 'invalid_arguments' || (outcome === 'unknown_tool' && text.trim() !== '');
}
