import type { ToolResult } from '../chat/chat-event.js';
import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext, ContextKey } from '../chat/context.js';
import type { ToolCall, ToolMessage } from '../chat/message.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import { resultContent } from './result-content.js';

/** Something the model may have done. Tools keep no state of a run and may be shared by concurrent requests. */
export interface Tool extends OfferedTool {
  readonly metadata: ToolMetadata;
  /** Checks arguments before the tool runs; without it any object is accepted. */
  validate?(args: unknown): Validation | Promise<Validation>;
  /**
   * Runs the tool with checked arguments; what it returns (or resolves to) is the result. Of a generator or an Observable the
   * last item is the result, and those before it are told as `tool-progress`.
   */
  call(args: unknown, context: ToolContext): unknown;
  /** What the model is told of a result. @default text as it is, content parts as parts, nothing as "Done", everything else as JSON */
  toContent?(value: unknown): ToolMessage['content'] | Promise<ToolMessage['content']>;
}

/** How a tool is to be treated. */
export interface ToolMetadata {
  /** Whether the result is the answer of the turn; honoured only if all calls of a batch have it. @default false */
  readonly returnDirect?: boolean | undefined;
  /** Whether the tool is hidden from the model until a result unlocks it. @default false */
  readonly deferred?: boolean | undefined;
  /** Whether the model is offered the tool even where tool search hides the others. @default false */
  readonly alwaysLoaded?: boolean | undefined;
  /** What kind of tool it is, such as `calendar`; a tool search can be narrowed by it. */
  readonly category?: string | undefined;
  /** Milliseconds after which a call is given up. @default the manager's `toolTimeout` */
  readonly timeout?: number | undefined;
  /** What a call does to the world; undeclared calls run together and are never repeated. */
  readonly effect?: ToolEffect | undefined;
  /**
   * Names what a call works on. Of the calls of a batch with the same key, those that only read run together; any other waits for
   * all before it, and all after it wait for it. @default the tool's name for `write`, none for others
   */
  readonly concurrencyKey?: ((args: unknown) => string | undefined) | undefined;
  /** Most calls of the tool that run at the same time in a batch, 1 or more. @default the manager's `concurrency` */
  readonly maxConcurrency?: number | undefined;
  /** How often a call that failed is tried again, 0 or more; only for `read` and `idempotent` tools. @default 0 */
  readonly retries?: number | undefined;
  /** What happens when a call fails. @default the manager's `onToolError` */
  readonly onToolError?: ToolErrorPolicy | undefined;
}

/**
 * What a call does to the world: nothing (`read`), the same however often it is made (`idempotent`), or something each time
 * (`write`).
 */
export type ToolEffect = 'read' | 'idempotent' | 'write';

/**
 * What happens when a call fails: a text to the model, a `ToolExecutionError` to the caller when all calls of the batch have ended,
 * or what a function decides. The function gives what the model is told; what it throws goes to the caller as it is.
 */
export type ToolErrorPolicy = 'tell-model' | 'throw' | ((error: unknown, call: ToolCall) => string | Promise<string>);

/** Checked arguments, or what is wrong with them. */
export type Validation = { readonly value: unknown } | { readonly issues: readonly string[] };

/** What a tool may use besides its arguments. */
export interface ToolContext {
  /** The call as the model wrote it. */
  readonly call: ToolCall;
  /** Aborts when the run is cancelled or the tool's time is up. */
  readonly signal: AbortSignal;
  /** The tool context of the request; the model never sees it. */
  readonly values: ToolContextValues;
  /** The value of the tool context under the name of a key, or the key's default. */
  readonly get: <T>(key: ContextKey<T>) => T;
  readonly advisorContext: AdvisorContext;
  /**
   * Identifies the work of this call to others (a payment service, an outbox): the same whenever the call is tried again, and
   * different for every other call, turn, conversation or other arguments. 64 characters.
   */
  readonly idempotencyKey: string;
  /** Tells the application how the tool gets on, as a `tool-progress` event. */
  readonly progress: (data: unknown) => void;
}

/** A tool call on its way to the tool. */
export interface ToolInvocation {
  readonly call: ToolCall;
  readonly tool: Tool;
  /** The checked arguments. An advisor may pass others on; they are not checked again. */
  readonly arguments: unknown;
  readonly context: ToolContext;
}

/** The rest of the way to the tool. May be called zero, one or many times. */
export type ToolCallHandler = (invocation: ToolInvocation) => Promise<ToolResult>;

/** Goes around a tool call. */
export type ToolCallWrapper = (invocation: ToolInvocation, next: ToolCallHandler) => Promise<ToolResult>;

const RESULT = Symbol.for('advisor-chain.tool-result');

/**
 * Lets a tool say more than a value: what the model is told (by default the text of the value), which deferred tools are unlocked
 * or locked, values for the advisors.
 */
export function toolResult(result: Partial<ToolResult>): ToolResult {
  const { content, value } = result;
  const isContent = typeof content === 'string' || Array.isArray(content);
  return Object.defineProperty({ ...result, content: isContent ? content : resultContent(content ?? value) }, RESULT, { value: true });
}

/** Whether a tool's value was made by {@link toolResult}. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && RESULT in value;
}

/** Whether something that is offered to a model can also be run. */
export function isTool(value: OfferedTool): value is Tool {
  return typeof (value as Partial<Tool>).call === 'function';
}
