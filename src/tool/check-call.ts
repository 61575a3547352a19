import type { Cancellation } from '../chat/cancellation.js';
import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext } from '../chat/context.js';
import type { JsonValue } from '../chat/json.js';
import { describe, type ToolCall } from '../chat/message.js';
import { ToolDefinitionError, ToolError, type AdvisorChainErrorOptions, type JsonError } from '../errors.js';
import { parseArguments } from './call-arguments.js';
import { dropOptionalNulls } from './schema/optional-nulls.js';
import { cutText } from './result-text.js';
import { resolveTool, type ToolResolver } from './tool-resolver.js';
import type { Tool, Validation } from './tool.js';
import { untilCancelled } from './until-cancelled.js';

/** What the calls of a batch are checked by. */
export interface CallChecks {
  readonly tools: ReadonlyMap<string, Tool>;
  /** Tools that may be named to the model. */
  readonly offered: readonly Tool[];
  readonly resolver: ToolResolver | undefined;
  readonly values: ToolContextValues;
  readonly advisorContext: AdvisorContext;
  readonly cancellation: Cancellation;
}

/** A call that is to run, one that cannot run, or one that is not to run whatever it says. */
export type CheckedCall = AcceptedCall | FailedCall | RefusedCall;

/** A call of a known tool with fitting arguments. */
export interface AcceptedCall {
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly accepted: true;
  readonly arguments: unknown;
  /** What it works on. */
  readonly key: string | undefined;
}

/** A call with which something is wrong. */
export interface FailedCall {
  readonly call: ToolCall;
  readonly tool: Tool | undefined;
  readonly error: unknown;
  /** Whether the tool is known and the arguments fit. */
  readonly accepted: boolean;
}

/** A call that is not run, and why. */
export interface RefusedCall {
  readonly call: ToolCall;
  readonly reason: string;
}

const MAX_NAMES = 30;

/** Checks one call before anything of its batch runs. Never fails; a promise only where a check of others takes its time. */
export function checkCall(call: ToolCall, reason: string | undefined, checks: CallChecks): CheckedCall | Promise<CheckedCall> {
  if (reason !== undefined) return { call, reason };
  if (checks.cancellation.cancelled) return { call, reason: 'The run was cancelled.' };
  const tool = checks.tools.get(call.name);
  if (tool) return checkArguments(call, tool, checks);
  return checks.resolver ? checkResolved(call, checks.resolver, checks) : unknownTool(call, checks);
}

async function checkResolved(call: ToolCall, resolver: ToolResolver, checks: CallChecks): Promise<CheckedCall> {
  const { advisorContext, values: toolContext, cancellation } = checks;
  const request = {
    advisorContext,
    toolContext,
    get signal() {
      return cancellation.signal;
    },
  };
  try {
    const tool = await untilCancelled(resolveTool(resolver, call.name, request), cancellation);
    return tool ? await checkArguments(call, tool, checks) : unknownTool(call, checks);
  } catch (error) {
    return { call, tool: undefined, error, accepted: false };
  }
}

function unknownTool(call: ToolCall, { offered }: CallChecks): FailedCall {
  const names = offered.slice(0, MAX_NAMES).map((tool) => tool.definition.name);
  const more = offered.length > MAX_NAMES ? ` and ${offered.length - MAX_NAMES} more` : '';
  const those = names.length > 0 ? `Tools you can call: ${names.join(', ')}${more}.` : 'There are no tools to call.';
  const error = new ToolError(`There is no tool ${JSON.stringify(cutText(call.name, 100))}. ${those}`);
  return { call, tool: undefined, error, accepted: false };
}

function checkArguments(call: ToolCall, tool: Tool, { cancellation }: CallChecks): CheckedCall | Promise<CheckedCall> {
  try {
    const checked = validate(call.arguments, tool);
    return isPromise(checked) ? judgeLater(call, tool, untilCancelled(checked, cancellation)) : judge(call, tool, checked);
  } catch (error) {
    return unchecked(call, tool, error);
  }
}

/** @throws whatever the schema of the tool throws */
function validate(text: string, tool: Tool): (Validation & { readonly cause?: unknown }) | Promise<Validation> {
  let args: JsonValue;
  try {
    args = parseArguments(text);
  } catch (error) {
    return { issues: [(error as JsonError).message], cause: error };
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return { issues: ['they must be one JSON object'] };
  if (text.includes('null')) args = dropOptionalNulls(args, tool.definition.inputSchema);
  return tool.validate ? tool.validate(args) : { value: args };
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown }).then === 'function';
}

async function judgeLater(call: ToolCall, tool: Tool, checked: Promise<Validation>): Promise<CheckedCall> {
  try {
    return judge(call, tool, await checked);
  } catch (error) {
    return unchecked(call, tool, error);
  }
}

function judge(call: ToolCall, tool: Tool, checked: Validation & { readonly cause?: unknown }): CheckedCall {
  if ('value' in checked) return accept(call, tool, checked.value);
  return misfit(call, tool, checked.issues, 'cause' in checked ? { cause: checked.cause } : {});
}

function unchecked(call: ToolCall, tool: Tool, cause: unknown): FailedCall {
  return misfit(call, tool, ['they could not be checked: the schema failed on them'], { cause });
}

function misfit(call: ToolCall, tool: Tool, issues: readonly string[], options: AdvisorChainErrorOptions): FailedCall {
  const list = issues.map((issue) => `- ${issue}`).join('\n');
  return { call, tool, error: new ToolError(`The arguments of "${call.name}" are not valid:\n${list}`, options), accepted: false };
}

function accept(call: ToolCall, tool: Tool, args: unknown): AcceptedCall | FailedCall {
  const { effect, concurrencyKey } = tool.metadata;
  if (!concurrencyKey) return { call, tool, accepted: true, arguments: args, key: effect === 'write' ? call.name : undefined };
  try {
    return { call, tool, accepted: true, arguments: args, key: checkedKey(tool, concurrencyKey(args)) };
  } catch (error) {
    return { call, tool, error, accepted: true };
  }
}

function checkedKey({ definition: { name } }: Tool, key: unknown): string | undefined {
  if (key === undefined || typeof key === 'string') return key;
  if (key instanceof Promise) key.catch(() => undefined); // nobody waits for it
  throw new ToolDefinitionError(`tool ${describe(name)}: concurrencyKey must give a text or undefined, not ${describe(key)}`, name);
}
