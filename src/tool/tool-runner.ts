import type { ChatEvent, ToolResult } from '../chat/chat-event.js';
import type { ToolCall } from '../chat/message.js';
import type { Observation, ToolCallOutcome } from '../chat/observation.js';
import type { Turn } from '../chat/turn.js';
import { InvalidArgumentError } from '../errors.js';
import type { AcceptedCall, CallChecks, CheckedCall } from './check-call.js';
import { cutContent } from './result-text.js';
import { attemptTool, type AttemptOptions } from './tool-attempt.js';
import { untilCancelled } from './until-cancelled.js';
import { toolContext } from './tool-context.js';
import {
  cancelled,
  errorResult,
  failedResult,
  failureOf,
  messageForModel,
  type FailureOptions,
  type ThrownFailure,
  type ToolFailure,
} from './tool-failure.js';
import type { Tool, ToolCallHandler, ToolCallWrapper, ToolInvocation } from './tool.js';

/** What the calls of a batch have in common. */
export interface ToolRunnerOptions extends CallChecks, FailureOptions {
  readonly turn: Turn;
  readonly observation: Observation | undefined;
  readonly iteration: number | undefined;
  /** How many calls of the conversation before a call have its id. */
  readonly calledBefore: (call: ToolCall) => number;
  readonly wrap: ToolCallWrapper | undefined;
  readonly attempt: AttemptOptions;
  /** Characters. */
  readonly maxResultLength: number;
  readonly emit: (event: ChatEvent) => void;
}

/** A call and what came of it. */
export interface ExecutedToolCall {
  readonly call: ToolCall;
  readonly result: ToolResult;
  /** Whether the call was one to run: of a known tool, with fitting arguments, within the limits. */
  readonly accepted: boolean;
}

/** A call that has ended. */
export interface EndedCall {
  readonly executed: ExecutedToolCall;
  readonly tool: Tool | undefined;
  /** What ends the batch once all of it has ended. */
  readonly thrown: ThrownFailure | undefined;
}

/** Runs a call that was checked. Never fails: an error that somebody must see is in what it gives. */
export function runToolCall(checked: CheckedCall, options: ToolRunnerOptions): EndedCall | Promise<EndedCall> {
  return options.observation ? runWatched(checked, options, options.observation) : runCall(checked, options);
}

function runWatched(checked: CheckedCall, options: ToolRunnerOptions, observation: Observation): EndedCall | Promise<EndedCall> {
  const { call } = checked;
  const tool = 'tool' in checked ? checked.tool : options.tools.get(call.name);
  const own = observation.begin({ type: 'tool-call', call, tool, iteration: options.iteration });
  const told = (ended: EndedCall): EndedCall => {
    const { result } = ended.executed;
    own.end({ type: 'tool-result', result, outcome: outcomeOf(checked, result, options.cancellation.cancelled) });
    return ended;
  };
  const ended = own.run(() => runCall(checked, options, own));
  return ended instanceof Promise ? ended.then(told) : told(ended);
}

function outcomeOf(checked: CheckedCall, { isError }: ToolResult, cancelled: boolean): ToolCallOutcome {
  if (cancelled && isError) return 'cancelled';
  if ('reason' in checked) return 'refused';
  if (!checked.accepted) return checked.tool ? 'invalid_arguments' : 'unknown_tool';
  return isError ? 'error' : 'success';
}

/** @param own what watches this call */
function runCall(checked: CheckedCall, options: ToolRunnerOptions, own?: Observation): EndedCall | Promise<EndedCall> {
  const { call } = checked;
  if (!options.cancellation.cancelled) options.emit({ type: 'tool-call', call });
  // looked at again: who hears of the call may have cancelled it
  if (options.cancellation.cancelled) return end({ call, accepted: false }, { result: cancelled() }, options);
  if ('reason' in checked) return end({ call, accepted: false }, { result: errorResult(checked.reason) }, options);
  return 'error' in checked ? fail(checked, checked.error, options) : new RunningCall(checked, options, own).run();
}

function fail(checked: Ending, error: unknown, options: ToolRunnerOptions): EndedCall | Promise<EndedCall> {
  const failure = failureOf(checked.call, checked.tool, error, options);
  return failure instanceof Promise ? failure.then((known) => end(checked, known, options)) : end(checked, failure, options);
}

/** What is known of a call that ends. */
interface Ending {
  readonly call: ToolCall;
  readonly tool?: Tool | undefined;
  readonly accepted: boolean;
}

function end({ call, tool, accepted }: Ending, { result, thrown }: ToolFailure, { maxResultLength, emit }: ToolRunnerOptions): EndedCall {
  const content = cutContent(result.content, maxResultLength);
  const cut = content === result.content ? result : { ...result, content };
  emit({ type: 'tool-result', call, result: cut });
  return { executed: { call, result: cut, accepted }, tool, thrown };
}

/** A call on its way to the tool and back. */
class RunningCall {
  private open = true;

  constructor(
    private readonly checked: AcceptedCall,
    private readonly options: ToolRunnerOptions,
    private readonly own: Observation | undefined,
  ) {}

  run(): Promise<EndedCall> {
    const { call, tool, arguments: args } = this.checked;
    const { values, advisorContext, turn, cancellation, wrap } = this.options;
    const calledBefore = (): number => this.options.calledBefore(call);
    const progress = (data: unknown): void => this.tell(data);
    const context = toolContext({ call, values, advisorContext, progress, turn, calledBefore, cancellation });
    const invocation = { call, tool, arguments: args, context };
    if (wrap) return this.runWrapped(invocation, wrap);
    return this.attempt(invocation).then(
      (result) => this.succeed(result),
      (error: unknown) => this.fail(error),
    );
  }

  private attempt(invocation: ToolInvocation): Promise<ToolResult> {
    return attemptTool(invocation, this.options.attempt, this.own);
  }

  private async runWrapped(invocation: ToolInvocation, wrap: ToolCallWrapper): Promise<EndedCall> {
    const tool = new WatchedTool((inner) => this.attempt(inner));
    try {
      // an advisor that never ends does not hold up a run that has ended
      return this.succeed(await untilCancelled(Promise.resolve(wrap(invocation, tool.next)), this.options.cancellation));
    } catch (error) {
      if (this.options.cancellation.cancelled || tool.isToBlameFor(error) || messageForModel(error) !== undefined) return this.fail(error);
      // an advisor's own error is no failure of the tool; nobody but the caller can handle it
      return this.end({ result: failedResult(invocation.call, error), thrown: { error, asItIs: true } });
    }
  }

  private tell(data: unknown): void {
    if (this.open) this.options.emit({ type: 'tool-progress', call: this.checked.call, data });
  }

  private succeed(result: ToolResult): EndedCall | Promise<EndedCall> {
    try {
      checkResult(result);
      return this.end({ result });
    } catch (error) {
      return this.fail(error);
    }
  }

  private fail(error: unknown): EndedCall | Promise<EndedCall> {
    this.open = false;
    return fail(this.checked, error, this.options);
  }

  private end(failure: ToolFailure): EndedCall {
    this.open = false;
    return end(this.checked, failure, this.options);
  }
}

/** @throws {@link InvalidArgumentError} if a tool or an advisor gave something that would fail where all results are put together */
function checkResult({ content, context }: ToolResult): void {
  if (typeof content !== 'string' && !isParts(content))
    throw new InvalidArgumentError('tool result: content must be a text or content parts');
  if (context !== undefined && typeof context?.changesSince !== 'function')
    throw new InvalidArgumentError('tool result: context must be an AdvisorContext');
}

function isParts(content: unknown): boolean {
  return Array.isArray(content) && content.every((part: { readonly type?: unknown } | null | undefined) => typeof part?.type === 'string');
}

/** The way to the tool as advisors go it, and whose errors came from there. */
class WatchedTool {
  private failed = false;
  private readonly errors = new Set<unknown>();

  constructor(private readonly attempt: (invocation: ToolInvocation) => Promise<ToolResult>) {}

  readonly next: ToolCallHandler = (invocation) => {
    this.failed = false;
    const result = this.attempt(invocation);
    // this handler also takes a rejection that an advisor leaves alone; it must not take the process down
    result.catch((error: unknown) => {
      this.failed = true;
      this.errors.add(error);
    });
    return result;
  };

  /** Whether the tool threw an error, or had failed last. */
  isToBlameFor(error: unknown): boolean {
    return this.failed || this.errors.has(error);
  }
}
