import type { ToolCall } from '../chat/message.js';
import { JsonError, ToolDefinitionError, ToolError } from '../errors.js';
import { isPromise, untilCancelled } from '../internal/cancellation.js';
import { hasMoreValues } from '../internal/json.js';
import { describe } from '../internal/text.js';
import { isPlainObject } from '../internal/options.js';
import { dropOptionalNulls } from '../json-schema/drop-optional-nulls.js';
import type { CheckLimits, Validation } from '../json-schema/validator.js';
import type { ToolCallOutcome } from '../observation/observation.js';
import { resolveTool, type ToolResolver } from '../tool/tool-provider.js';
import type { Tool } from '../tool/tool.js';
import { parseArguments } from './call-arguments.js';
import { exceededError } from './exceeded.js';
import type { ManagerSettings } from './manager-options.js';
import type { Batch } from './tool-run.js';

/** A call after the checks. */
export interface CheckedCall {
  readonly call: ToolCall;
  /** Undefined for an unknown tool. */
  readonly tool: Tool | undefined;
  /**
   * `success` if the call can run; `error` if its concurrency key failed, with valid arguments.
   */
  readonly outcome: Exclude<ToolCallOutcome, 'cancelled'>;
  /** The checked arguments of a call that can run. */
  readonly arguments?: unknown;
  /** The concurrency key of a call that can run. */
  readonly key?: string | undefined;
  /** The error of a call that failed; of a refused call, the text for the model. */
  readonly error?: unknown;
  /** The error of an advisor that prepared the call, which only the caller can handle. */
  readonly failure?: { readonly error: unknown } | undefined;
}

const MAX_NAMES = 30;

/**
 * Checks a call before any call of its batch runs. Never throws; asynchronous only if a resolver or
 * a schema is.
 * @param reason the text for the model in place of a result; undefined if the call may run
 */
export function checkCall(
  call: ToolCall,
  reason: string | undefined,
  batch: Batch,
): CheckedCall | Promise<CheckedCall> {
  const tool = batch.toolOf(call);
  if (reason !== undefined || batch.cancellation.cancelled)
    return { call, tool, outcome: 'refused', error: reason };
  if (tool) return checkArguments(call, tool, batch);
  const { resolver } = batch.settings;
  return resolver ? checkResolved(call, resolver, batch) : unknownTool(call, batch);
}

async function checkResolved(
  call: ToolCall,
  resolver: ToolResolver,
  batch: Batch,
): Promise<CheckedCall> {
  const { advisorContext, values: toolContext, cancellation } = batch;
  try {
    const request = { advisorContext, toolContext, signal: cancellation.signal };
    const tool = await untilCancelled(resolveTool(resolver, call.name, request), cancellation);
    return tool ? await checkArguments(call, tool, batch) : unknownTool(call, batch);
  } catch (error) {
    return { call, tool: undefined, outcome: 'unknown_tool', error };
  }
}

function unknownTool(call: ToolCall, { run, tools }: Batch): CheckedCall {
  const offered = run.offered ?? [...tools.values()];
  const names = offered.slice(0, MAX_NAMES).map((tool) => tool.definition.name);
  const more = offered.length > MAX_NAMES ? ` and ${offered.length - MAX_NAMES} more` : '';
  const list =
    names.length > 0
      ? `Tools you can call: ${names.join(', ')}${more}.`
      : 'There are no tools to call.';
  const error = new ToolError(`There is no tool ${describe(call.name)}. ${list}`);
  return { call, tool: undefined, outcome: 'unknown_tool', error };
}

function checkArguments(
  call: ToolCall,
  tool: Tool,
  { cancellation, settings }: Batch,
): CheckedCall | Promise<CheckedCall> {
  const exceeded = exceededLimit(call, settings);
  if (exceeded) return { call, tool, outcome: 'invalid_arguments', error: exceeded };
  const schemaFailed = (cause: unknown): CheckedCall =>
    invalidArguments(call, tool, ['they could not be checked: the schema failed on them'], cause);
  try {
    const validation = checkArgumentsText(call.arguments, tool, settings);
    return isPromise(validation)
      ? untilCancelled(Promise.resolve(validation), cancellation)
          .then((each) => toCheckedCall(call, tool, each))
          .catch(schemaFailed)
      : toCheckedCall(call, tool, validation);
  } catch (error) {
    return error instanceof JsonError
      ? invalidArguments(call, tool, [error.message], error)
      : schemaFailed(error);
  }
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

function toCheckedCall(call: ToolCall, tool: Tool, validation: Validation): CheckedCall {
  if (!('value' in validation))
    return invalidArguments(call, tool, validation.issues, validation.cause);
  const { value } = validation;
  try {
    const key = concurrencyKeyOf(tool, value);
    return { call, tool, outcome: 'success', arguments: value, key };
  } catch (error) {
    return { call, tool, outcome: 'error', error };
  }
}

/** The error of arguments that are too large to be parsed. */
function exceededLimit(
  { name, arguments: text }: ToolCall,
  { maxArgumentsLength, maxArgumentsValues }: ManagerSettings,
): ToolError | undefined {
  const errorOf = (value: number, unit: string, limit: string, option: string): ToolError => {
    const problem = `The arguments of "${name}" have more than ${value} ${unit}`;
    return exceededError(problem, name, { limit, value, option });
  };
  if (text?.length > maxArgumentsLength)
    return errorOf(maxArgumentsLength, 'characters', 'arguments-length', 'maxArgumentsLength');
  return typeof text === 'string' && hasMoreValues(text, maxArgumentsValues)
    ? errorOf(maxArgumentsValues, 'JSON values', 'arguments-values', 'maxArgumentsValues')
    : undefined;
}

function invalidArguments(
  call: ToolCall,
  tool: Tool,
  issues: readonly string[],
  cause?: unknown,
): CheckedCall {
  const list = issues.map((issue) => `- ${issue}`).join('\n');
  const message = `The arguments of "${call.name}" are not valid:\n${list}`;
  const error = new ToolError(message, cause === undefined ? {} : { cause });
  return { call, tool, outcome: 'invalid_arguments', error };
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
