import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { CustomEvent, ToolResult } from '../chat/chat-event.js';
import type { ToolContextValues } from '../chat/chat-options.js';
import type { AdvisorContext, ContextKey } from '../chat/context.js';
import type { ToolCall, ToolMessage } from '../chat/message.js';
import type { OfferedTool } from '../chat/tool-definition.js';
import type { Observable } from '../internal/rxjs.js';
import type { InferOutput, InputSchema } from '../json-schema/to-json-schema.js';
import type { CheckLimits, Validation } from '../json-schema/validator.js';

/**
 * A function that the model can call. Keeps no state of a run; concurrent requests may share it.
 *
 * `Name`, `Input` and `Output` are the types of its name, its checked arguments and its result, as
 * {@link defineTool} finds them; any `Tool` can be passed where they do not matter.
 */
export interface Tool<
  Name extends string = string,
  Input = unknown,
  Output = unknown,
> extends OfferedTool<Name, Input, Output> {
  /** The same as `definition.name`. */
  readonly name?: Name | undefined;
  readonly metadata: ToolMetadata;
  /** Checks arguments before the tool runs. @default accepts every object */
  validate?(args: unknown, limits?: CheckLimits): Validation | Promise<Validation>;
  /**
   * Runs the tool with checked arguments and returns (or resolves to) the result. Of a generator or
   * an Observable the last item is the result; earlier items are emitted as `tool-progress`.
   */
  call(args: unknown, context: ToolContext): unknown;
  /** Checks a result before the model gets it. @default accepts every value */
  validateResult?(value: unknown, limits?: CheckLimits): Validation | Promise<Validation>;
  /**
   * Converts a result for the model.
   * @default a string unchanged, undefined as "Done", everything else as JSON; media need
   * `toolResult`
   */
  toContent?(value: unknown): ToolMessage['content'] | Promise<ToolMessage['content']>;
  /**
   * Changes a result that the tool has made with `toolResult`, such as the names of tools in it.
   * @default unchanged
   */
  changeResult?(result: ToolResult): ToolResult;
  /**
   * True if a call records steps of its own in a durable turn, such as a call of an agent whose
   * client has a `DurableAdvisor`; then the call itself is not recorded. @default false
   */
  readonly hasOwnSteps?: boolean | undefined;
}

/** A tool that has its `name` beside its definition, as those that {@link defineTool} makes. */
export interface NamedTool<
  Name extends string = string,
  Input = unknown,
  Output = unknown,
> extends Tool<Name, Input, Output> {
  readonly name: Name;
}

/** Settings of a tool. */
export interface ToolMetadata {
  /**
   * Makes the result the answer of the turn, if all calls of its batch have this set.
   * @default false
   */
  readonly returnDirect?: boolean | undefined;
  /** Hides the tool from the model until a result unlocks it. @default false */
  readonly deferred?: boolean | undefined;
  /** Excludes the tool from hiding by tool search. @default false */
  readonly alwaysLoaded?: boolean | undefined;
  /**
   * The results are JSON lists of objects with the `name` of a tool, which `withToolNames` replaces
   * by the name that the model knows. @default false
   */
  readonly findsTools?: boolean | undefined;
  /** Category, such as `calendar`, by which a tool search can be narrowed. */
  readonly category?: string | undefined;
  /** Time limit of a call in milliseconds, or `Infinity`. @default the manager's `toolTimeout` */
  readonly timeout?: number | undefined;
  /** Side effect of a call. @default none declared: calls run in parallel and are never repeated */
  readonly effect?: ToolEffect | undefined;
  /**
   * Names the resource of a call. Of the calls of a batch with the same key, `read` calls run in
   * parallel; any other runs after all earlier calls, and before all later ones.
   * @default the tool's name for `write`, none for other effects
   */
  readonly concurrencyKey?: ((args: unknown) => string | undefined) | undefined;
  /**
   * Maximum number of parallel calls of the tool in a batch, >= 1.
   * @default the manager's `concurrency`
   */
  readonly maxConcurrency?: number | undefined;
  /**
   * Number of retries of a failed call, >= 0; only for `read` and `idempotent` tools.
   * @default 0
   */
  readonly retries?: number | undefined;
  /**
   * Exempts repeated calls from the loop detector: the tool waits for something, such as the end of
   * a job, or acts the same way again, such as a key press. @default false
   */
  readonly polls?: boolean | undefined;
  /**
   * False if an equal call of another turn or conversation must not get the result, for example of a
   * tool that reads what belongs to the conversation: a `ToolCacheAdvisor` does not keep it.
   * @default true, unless the tool polls or finds tools, or the client runs it
   */
  readonly cacheable?: boolean | undefined;
  /**
   * True if others have written its results, such as pages, mails, or all that an MCP server returns:
   * a `GuardAdvisor` delimits them, and lets no tool change anything after them. @default false
   */
  readonly untrusted?: boolean | undefined;
  /** Handling of a failed call. @default the manager's `onToolError` */
  readonly onToolError?: ToolErrorPolicy | undefined;
}

/**
 * Side effect of a call: none (`read`), the same however often it is made (`idempotent`), or a new
 * one each time (`write`).
 */
export type ToolEffect = 'read' | 'idempotent' | 'write';

/**
 * Handling of a failed call: an error result for the model, a `ToolExecutionError` for the caller
 * after all calls of the batch have ended, or a function. The function returns the text for the
 * model; its own error reaches the caller unchanged.
 */
export type ToolErrorPolicy =
  'send-to-model' | 'throw' | ((error: unknown, call: ToolCall) => string | Promise<string>);

/** The second argument of a tool. */
export interface ToolContext {
  /** The call as the model wrote it. */
  readonly call: ToolCall;
  /** Aborts when the run is cancelled or the call times out. */
  readonly signal: AbortSignal;
  /** The tool context of the request, which the model never sees. */
  readonly values: ToolContextValues;
  /** Returns the tool context value of a key, or the key's default. */
  readonly get: <T>(key: ContextKey<T>) => T;
  readonly advisorContext: AdvisorContext;
  /**
   * Identifies the work of this call to other systems (a payment service, an outbox): equal for all
   * attempts of the call, also when the model repeats it after an error, or its turn runs again under
   * its id; different for other calls, turns, conversations or arguments. 64 characters.
   */
  readonly idempotencyKey: string;
  /** Emits a `tool-progress` event. */
  readonly progress: (data: unknown) => void;
  /** Emits an event of the application; nothing after the end of the call. */
  readonly emit: (event: CustomEvent) => void;
  /**
   * Asks the user, by the `ApprovalAdvisor` of the chain, and resolves with the checked answer. The
   * time limit of the call stands still meanwhile. A tool must ask before it has an effect: if the
   * turn pauses for the answer, or runs again after a crash, the tool runs again from its beginning.
   *
   * Rejects with a `ToolError`, whose message the model reads, if the user refuses to answer.
   */
  readonly ask: <S extends InputSchema>(schema: S, prompt: string) => Promise<InferOutput<S>>;
}

/** A tool call, as advisors around it receive it. */
export interface ToolInvocation<Input = unknown> {
  readonly call: ToolCall;
  readonly tool: Tool;
  /** The checked arguments. An advisor may replace them; they are not checked again. */
  readonly arguments: Input;
  readonly context: ToolContext;
}

/** Runs the remaining advisors and the tool. May be called zero, one or many times. */
export type ToolCallHandler = (invocation: ToolInvocation) => Promise<ToolResult>;

/**
 * Prepares a tool call before any call of its batch has to wait for another; the call runs when the
 * promise has resolved. Undefined if there is nothing to prepare.
 */
export type ToolCallPreparer = (invocation: ToolInvocation) => Promise<void> | undefined;

/** Wraps a tool call. */
export type ToolCallWrapper = (
  invocation: ToolInvocation,
  next: ToolCallHandler,
  /** Called with each call that an advisor passes on in place of another, and its arguments. */
  onCall: (call: ToolCall, args: unknown) => void,
) => Promise<ToolResult>;

/** Checks that an offered tool can be run. */
export function isTool(value: OfferedTool): value is Tool {
  return typeof (value as Partial<Tool>).call === 'function';
}

/** The type of the checked arguments of a tool: `InferToolInput<typeof weather>`. */
export type InferToolInput<T extends OfferedTool> =
  T extends OfferedTool<string, infer Input> ? Input : never;

/** The type of the result of a tool: `InferToolOutput<typeof weather>`. */
export type InferToolOutput<T extends OfferedTool> =
  T extends OfferedTool<string, unknown, infer Output> ? Output : never;

/**
 * The result type of a function: the value of its Promise, or the items of its generator or
 * Observable.
 */
export type ToolValue<R> =
  R extends PromiseLike<infer Value>
    ? ToolValue<Value>
    : R extends AsyncGenerator<infer Item, infer Last> | Generator<infer Item, infer Last>
      ? Item | Exclude<Last, void>
      : R extends AsyncIterable<infer Item> | Observable<infer Item>
        ? Item
        : R;

/** The value in a `ToolResult`; a value of the application may have a field `content` too. */
type ValueIn<V> = V extends ToolResult<infer Value> ? (ToolResult<Value> extends V ? Value : V) : V;

/** The type of a result, from the output schema `O`, or else from the function. */
export type OutputOf<O, R> = O extends StandardSchemaV1 ? InferOutput<O> : ValueIn<ToolValue<R>>;
