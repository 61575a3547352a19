import { Cancellation } from '../chat/cancellation.js';
import type { ToolResult } from '../chat/chat-event.js';
import { parseJson, type JsonValue } from '../chat/json.js';
import type { ToolCall } from '../chat/message.js';
import { AdvisorChainError, ToolError, ToolExecutionError, type JsonError } from '../errors.js';
import { cutText, resultText } from './result-text.js';
import { isToolResult, type Tool, type ToolCallWrapper, type ToolContext, type ToolInvocation } from './tool.js';

/** What the calls of a batch have in common. */
export interface ToolRunnerOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  /** Names that may be told to the model. */
  readonly offered: readonly string[];
  readonly wrap: ToolCallWrapper | undefined;
  /** Milliseconds, for tools without a timeout of their own. */
  readonly timeout: number;
  /** Characters. */
  readonly maxResultLength: number;
  readonly onToolError: 'tell-model' | 'throw';
  /** The context of a call but for what belongs to it alone. */
  readonly contextOf: (call: ToolCall, own: Cancellation) => ToolContext;
  readonly cancellation: Cancellation;
}

const MAX_NAMES = 30;

/** Runs one tool call from the model's text to a result. Rejects only where the policy says `throw`. */
export async function runToolCall(call: ToolCall, options: ToolRunnerOptions): Promise<ToolResult> {
  const tool = options.tools.get(call.name);
  if (!tool) return failure(unknownTool(call.name, options.offered));
  const checked = await checkArguments(call, tool);
  if ('issues' in checked)
    return failure(`The arguments of "${call.name}" are not valid:\n${checked.issues.map((issue) => `- ${issue}`).join('\n')}`);
  try {
    return withinLength(await runInTime(call, tool, checked.value, options), options.maxResultLength);
  } catch (error) {
    if (options.onToolError === 'tell-model') return { ...failure(tellModel(call, error)), error };
    throw new ToolExecutionError(`The tool "${call.name}" failed (call ${call.id}); see cause.`, call.name, call.id, { cause: error });
  }
}

/** A result that tells the model what went wrong. */
export function failure(content: string): ToolResult {
  return { content, isError: true };
}

function unknownTool(name: string, offered: readonly string[]): string {
  const names = offered.slice(0, MAX_NAMES).join(', ') + (offered.length > MAX_NAMES ? ` and ${offered.length - MAX_NAMES} more` : '');
  return `There is no tool ${JSON.stringify(cutText(name, 100))}. ${offered.length > 0 ? `Tools you can call: ${names}.` : 'There are no tools to call.'}`;
}

async function checkArguments(call: ToolCall, tool: Tool): Promise<{ readonly value: unknown } | { readonly issues: readonly string[] }> {
  let args: JsonValue;
  try {
    args = call.arguments.trim() === '' ? {} : (parseJson(call.arguments) ?? {});
  } catch (error) {
    return { issues: [(error as JsonError).message] };
  }
  if (typeof args !== 'object' || Array.isArray(args)) return { issues: ['they must be one JSON object'] };
  try {
    return (await tool.validate?.(args)) ?? { value: args };
  } catch (error) {
    return { issues: [`they could not be checked: ${error instanceof AdvisorChainError ? error.message : 'the schema failed on them'}`] };
  }
}

async function runInTime(call: ToolCall, tool: Tool, args: unknown, options: ToolRunnerOptions): Promise<ToolResult> {
  const timeout = tool.metadata.timeout ?? options.timeout;
  const own = new Cancellation();
  const release = options.cancellation.onCancel((reason) => own.cancel(reason));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<ToolResult>((resolve) => {
    if (!Number.isFinite(timeout)) return;
    timer = setTimeout(() => {
      resolve(failure(`The tool "${call.name}" did not answer within ${timeout} ms.`));
      own.cancel(new ToolError(`timeout of ${timeout} ms`));
    }, timeout);
  });
  try {
    const invocation = { call, tool, arguments: args, context: options.contextOf(call, own) };
    return await Promise.race([options.wrap ? options.wrap(invocation, invoke) : invoke(invocation), late]);
  } finally {
    clearTimeout(timer);
    release();
  }
}

async function invoke({ tool, arguments: args, context }: ToolInvocation): Promise<ToolResult> {
  const value: unknown = await tool.call(args, context);
  return isToolResult(value) ? value : { content: resultText(value), value };
}

function withinLength(result: ToolResult, maxLength: number): ToolResult {
  const { content } = result;
  return typeof content === 'string' && content.length > maxLength ? { ...result, content: cutText(content, maxLength) } : result;
}

function tellModel(call: ToolCall, error: unknown): string {
  const message = error instanceof ToolError ? error.message.trim() : '';
  return message === '' ? `The tool "${call.name}" failed. Error id: ${call.id}` : message;
}
