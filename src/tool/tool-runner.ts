import type { Cancellation } from '../chat/cancellation.js';
import type { ChatEvent, ToolResult } from '../chat/chat-event.js';
import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext } from '../chat/context.js';
import type { JsonValue } from '../chat/json.js';
import type { ToolCall } from '../chat/message.js';
import { AdvisorChainError, ToolError, ToolExecutionError, type JsonError } from '../errors.js';
import { parseArguments } from './call-arguments.js';
import { dropOptionalNulls } from './optional-nulls.js';
import { cutContent, cutText } from './result-text.js';
import { attemptTool, toolContext } from './tool-attempt.js';
import type { Tool, ToolCallHandler, ToolCallWrapper, ToolInvocation, Validation } from './tool.js';

/** What the calls of a batch have in common. */
export interface ToolRunnerOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  /** Tools that may be named to the model. */
  readonly offered: readonly Tool[];
  readonly values: ToolContextValues;
  readonly advisorContext: AdvisorContext;
  readonly wrap: ToolCallWrapper | undefined;
  /** Milliseconds, for tools without a timeout of their own. */
  readonly timeout: number;
  /** Characters. */
  readonly maxResultLength: number;
  readonly onToolError: 'tell-model' | 'throw';
  readonly emit: (event: ChatEvent) => void;
  readonly cancellation: Cancellation;
}

/** A call and what came of it. */
export interface ExecutedToolCall {
  readonly call: ToolCall;
  readonly result: ToolResult;
  /** Whether the call was one to run: of a known tool, with fitting arguments, within the limits. */
  readonly accepted: boolean;
}

const CANCELLED = 'Not run to its end: the turn was cancelled.';
const MAX_NAMES = 30;

/** Runs one tool call from the model's text to a result. Rejects only where the policy says `throw`, or an advisor fails. */
export async function runToolCall(call: ToolCall, options: ToolRunnerOptions): Promise<ExecutedToolCall> {
  const accepted = await accept(call, options);
  const wrong = accepted instanceof ToolError;
  const result = wrong ? failed(call, accepted, options) : await runAccepted(call, accepted, options);
  const content = cutContent(result.content, options.maxResultLength);
  return { call, result: content === result.content ? result : { ...result, content }, accepted: !wrong };
}

/** A call that is not run, and what the model is told instead. */
export function refuse(call: ToolCall, reason: string): ExecutedToolCall {
  return { call, result: failure(reason), accepted: false };
}

/** A call of a turn that is cancelled. */
export function cancel(call: ToolCall): ExecutedToolCall {
  return refuse(call, CANCELLED);
}

function failure(content: string): ToolResult {
  return { content, isError: true };
}

/** What a call asks for, or what is wrong with it. */
async function accept(
  call: ToolCall,
  { tools, offered }: ToolRunnerOptions,
): Promise<Pick<ToolInvocation, 'tool' | 'arguments'> | ToolError> {
  const tool = tools.get(call.name);
  if (!tool) return new ToolError(unknownTool(call.name, offered));
  const checked = await checkArguments(call.arguments, tool);
  if ('value' in checked) return { tool, arguments: checked.value };
  const issues = checked.issues.map((issue) => `- ${issue}`).join('\n');
  return new ToolError(`The arguments of "${call.name}" are not valid:\n${issues}`, 'cause' in checked ? { cause: checked.cause } : {});
}

function unknownTool(name: string, offered: readonly Tool[]): string {
  const names = offered.slice(0, MAX_NAMES).map((tool) => tool.definition.name);
  const more = offered.length > MAX_NAMES ? ` and ${offered.length - MAX_NAMES} more` : '';
  return `There is no tool ${JSON.stringify(cutText(name, 100))}. ${names.length > 0 ? `Tools you can call: ${names.join(', ')}${more}.` : 'There are no tools to call.'}`;
}

async function checkArguments(text: string, tool: Tool): Promise<Validation & { readonly cause?: unknown }> {
  let args: JsonValue;
  try {
    args = parseArguments(text);
  } catch (error) {
    return { issues: [(error as JsonError).message], cause: error };
  }
  if (typeof args !== 'object' || Array.isArray(args)) return { issues: ['they must be one JSON object'] };
  try {
    if (text.includes('null')) args = dropOptionalNulls(args, tool.definition.inputSchema);
    return (await tool.validate?.(args)) ?? { value: args };
  } catch (error) {
    return { issues: ['they could not be checked: the schema failed on them'], cause: error };
  }
}

async function runAccepted(
  call: ToolCall,
  accepted: Pick<ToolInvocation, 'tool' | 'arguments'>,
  options: ToolRunnerOptions,
): Promise<ToolResult> {
  const { values, advisorContext, emit, wrap, cancellation, timeout } = options;
  let open = true;
  let toolFailed = false;
  const toolErrors = new Set<unknown>();
  const progress = (data: unknown): void => {
    if (open) emit({ type: 'tool-progress', call, data });
  };
  const next: ToolCallHandler = (invocation) => {
    toolFailed = true;
    const result = attemptTool(invocation, timeout);
    // the first handler also takes a rejection that an advisor leaves alone; it must not take the process down
    result.then(
      () => (toolFailed = false),
      (error: unknown) => toolErrors.add(error),
    );
    return result;
  };
  try {
    const { tool, arguments: args } = accepted;
    const invocation = { call, tool, arguments: args, context: toolContext(cancellation, { call, values, advisorContext, progress }) };
    return await (wrap ? wrap(invocation, next) : next(invocation));
  } catch (error) {
    // an advisor's own error is no failure of the tool; nobody but the caller can handle it
    if (!toolFailed && !toolErrors.has(error) && messageForModel(error) === undefined) throw error;
    return failed(call, error, options);
  } finally {
    open = false;
  }
}

function failed(call: ToolCall, error: unknown, { onToolError, cancellation }: ToolRunnerOptions): ToolResult {
  if (cancellation.cancelled) return failure(CANCELLED);
  const text = messageForModel(error) || `The tool "${call.name}" failed. Error id: ${call.id}`;
  if (onToolError === 'tell-model') return { ...failure(text), error };
  throw new ToolExecutionError(`${text} (tool "${call.name}", call ${call.id}; see cause)`, call.name, call.id, { cause: error });
}

/** The message of a {@link ToolError}; undefined for any other error, which may hold secrets. */
function messageForModel(error: unknown): string | undefined {
  try {
    return AdvisorChainError.isInstance(error) && error.code === 'tool' ? error.message.trim() : undefined;
  } catch {
    return undefined; // an error that throws at whoever looks at it
  }
}
