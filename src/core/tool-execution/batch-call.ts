import { checkCustomEvent, type ToolResult } from '../chat/chat-event.js';
import type { CheckedCall, ToolCall } from '../chat/message.js';
import { pauseCall } from '../chat/pause-record.js';
import { untilCancelled } from '../internal/cancellation.js';
import { frozenCopy } from '../internal/frozen-copy.js';
import type { Observation, ToolCallOutcome } from '../observation/observation.js';
import { checkToolResult, ownResult } from '../tool/tool-result.js';
import { truncateContent } from '../tool/result-text.js';
import type { Tool, ToolCallWrapper, ToolErrorPolicy, ToolInvocation } from '../tool/tool.js';
import { exceededError } from './call-limits.js';
import {
  CANCELLED,
  failedResult,
  isInstance,
  isPause,
  keepResult,
  keptResult,
  messageForModel,
  UNFINISHED,
} from './call-state.js';
import { callTool } from './call-tool.js';
import { checkedCall } from './checked-call.js';
import type { ScheduledCall } from './schedule-calls.js';
import { CallContext, type ToolEmitter, type OriginalCall } from './tool-context.js';
import { isWithoutAsker } from './tool-questions.js';
import type { Batch } from './tool-run.js';

/** A tool call on its whole way: checked, prepared, scheduled, run, ended. */
export class BatchCall implements ScheduledCall<BatchCall>, ToolEmitter {
  /** Undefined for an unknown tool. */
  tool: Tool | undefined = undefined;
  /**
   * Outcome of the checks: `success` if the call can run; `error` if its concurrency key failed, with
   * valid arguments.
   */
  outcome: Exclude<ToolCallOutcome, 'cancelled'> = 'success';
  /** The checked arguments; undefined if they did not pass the check. */
  arguments: unknown = undefined;
  /** The concurrency key of a call that can run. */
  key: string | undefined = undefined;
  /** The error of a call that cannot run; of a refused call, the text for the model. */
  error: unknown = undefined;
  /** Preparation by the advisors; never rejects. */
  ready: Promise<void> | undefined = undefined;
  /** The error of an advisor that prepared the call, which only the caller can handle. */
  failure: { readonly error: unknown } | undefined = undefined;
  toolRun: OriginalCall['toolRun'] = 'none';
  /** The call with arguments replaced by an advisor or a person, as the transcript has it. */
  ran: ToolCall;
  /** {@link call} and {@link ran} for events, with their checked arguments. */
  private checked: CheckedCall;
  private checkedRan: CheckedCall;
  result = UNFINISHED;
  /** True if the tool is known, the arguments are valid and no limit was reached. */
  accepted = false;
  /** Thrown when the whole batch has ended: unchanged, or as the cause of a `ToolExecutionError`. */
  thrown: { readonly error: unknown; readonly rethrowUnchanged: boolean } | undefined = undefined;
  /** True if the call waits for a person; its error is thrown only if no other call has one. */
  paused = false;
  private observation: Observation | undefined = undefined;
  private finished = false;
  private progressCount = 0;

  constructor(
    /** The call as the model wrote it. */
    readonly call: ToolCall,
    readonly batch: Batch,
  ) {
    this.ran = this.checked = this.checkedRan = call;
  }

  get reads(): boolean {
    return this.tool?.metadata.effect === 'read';
  }

  get group(): Tool | undefined {
    return this.tool;
  }

  get maxOfGroup(): number | undefined {
    return this.tool?.metadata.maxConcurrency;
  }

  get returnDirect(): boolean {
    return this.accepted && this.tool?.metadata.returnDirect === true;
  }

  reject(outcome: BatchCall['outcome'], error: unknown): void {
    this.outcome = outcome;
    this.error = error;
  }

  /** Runs the checked call. Never throws or rejects: an error for the caller is in {@link thrown}. */
  run(): this | Promise<this> {
    const { observation: parent, iteration } = this.batch.run;
    if (!parent) return this.start();
    const { call, tool } = this;
    const observation = parent.begin({ type: 'tool-call', call, tool, iteration });
    this.observation = observation;
    const ended = observation.run(() => this.start());
    return ended instanceof Promise ? ended.then(() => this.report()) : this.report();
  }

  private report(): this {
    const { result, outcome, thrown, batch, call } = this;
    const isReplayed = batch.record.recorder.isReplayed(call.id);
    const failed = outcome === 'success' && result.isError ? 'error' : outcome;
    const cancelled = batch.cancellation.cancelled && result.isError;
    this.observation?.end(
      this.paused
        ? { type: 'error', error: thrown?.error }
        : { type: 'tool-result', result, outcome: cancelled ? 'cancelled' : failed, isReplayed },
    );
    return this;
  }

  private start(): this | Promise<this> {
    const { call, tool, outcome, error, failure, batch } = this;
    this.checked = this.checkedRan = checkedCall(call, this.arguments);
    batch.emit({ type: 'tool-call', toolName: call.name, call: this.checked });
    // a listener of the event may have cancelled the run
    if (batch.cancellation.cancelled) return this.finish(CANCELLED, undefined, false);
    if (outcome === 'refused') return this.finish({ content: error as string, isError: true });
    if (outcome !== 'success' || !tool) return this.fail(error);
    if (failure)
      return this.finish(failedResult(call, failure.error), { ...failure, rethrowUnchanged: true });
    const kept = keptResult(call, batch);
    if (kept) {
      if (kept.edited) ({ ran: this.ran, checkedRan: this.checkedRan } = kept.edited);
      return this.finish(kept.result);
    }
    const context = new CallContext(call, this, batch.cancellation, this);
    const invocation = { call, tool, arguments: this.arguments, context };
    if (batch.run.wrap) return this.runWrapped(invocation, batch.run.wrap);
    return this.runTool(invocation).then(
      (result) => this.succeed(result),
      (toolError: unknown) => this.fail(toolError),
    );
  }

  /** @throws {@link ToolError} beyond the limit, which also ends a tool that never does */
  readonly progress: ToolEmitter['progress'] = (given) => {
    if (this.finished) return;
    const { name } = this.call;
    const { maxProgress: value } = this.batch.settings;
    if (++this.progressCount > value) {
      const problem = `The tool "${name}" was stopped: it emitted more than ${value} progress values`;
      const limit = { limit: 'progress', value, spent: this.progressCount, option: 'maxProgress' };
      throw exceededError(problem, name, limit);
    }
    const data = frozenCopy(given); // a tool may report one object again and again
    this.batch.emit({ type: 'tool-progress', toolName: name, call: this.checked, data });
  };

  readonly emit: ToolEmitter['emit'] = (event) => {
    checkCustomEvent(event, `tool "${this.call.name}": emit(…)`);
    if (!this.finished) this.batch.emit(event);
  };

  private async runWrapped(given: ToolInvocation, wrap: ToolCallWrapper): Promise<this> {
    const { batch, call } = this;
    // an advisor may ask a user about the arguments
    const invocation = Object.freeze({ ...given, arguments: frozenCopy(given.arguments) });
    const { cancellation } = batch;
    /** All errors of the tool, also those that an advisor handled. */
    const toolErrors: unknown[] = [];
    const next = (inner: ToolInvocation): Promise<ToolResult> => {
      const result = this.runTool(inner).then((own) => ownResult(own));
      this.toolRun = 'called';
      // also handles a rejection that no advisor handles, which would end the process
      result.catch((error: unknown) => {
        this.toolRun = 'failed';
        toolErrors.push(error);
      });
      return result;
    };
    try {
      // an advisor that never settles must not delay the end of a cancelled run
      const running = Promise.resolve(
        wrap(invocation, next, (changed, args) => this.edit(changed, args)),
      );
      return this.succeed(await untilCancelled(running, cancellation));
    } catch (error) {
      if (isPause(error)) return this.pause(error);
      const isOfTool = this.toolRun === 'failed' || toolErrors.includes(error);
      if (isOfTool || messageForModel(error) !== undefined || cancellation.cancelled)
        return this.fail(error);
      // an advisor's own error is not a failure of the tool; only the caller can handle it
      return this.finish(failedResult(call, error), { error, rethrowUnchanged: true });
    }
  }

  /** An advisor may run the tool several times: it starts once. */
  private runTool(invocation: ToolInvocation): Promise<ToolResult> {
    const { ran, checkedRan, batch, observation } = this;
    const { record } = batch;
    // an agent replays the recorded steps of its own turn
    if (!invocation.tool.hasOwnSteps || !record.recorder.isReplaying) record.beginOperation();
    if (this.toolRun === 'none' && !this.finished)
      batch.emit({ type: 'tool-start', toolName: ran.name, call: checkedRan });
    return callTool(invocation, batch, observation);
  }

  private edit({ arguments: text }: ToolCall, args: unknown): void {
    const { call, finished } = this;
    if (finished) return; // an advisor may outlive its turn
    this.ran = text === call.arguments ? call : Object.freeze({ ...call, arguments: text });
    this.checkedRan = checkedCall(this.ran, args);
  }

  private succeed(result: ToolResult): this | Promise<this> {
    try {
      checkToolResult(result);
      return this.finish(result);
    } catch (error) {
      return this.fail(error);
    }
  }

  /** Applies the error policy of the tool. */
  private fail(error: unknown): this | Promise<this> {
    this.finished = true;
    if (isPause(error)) return this.pause(error);
    const { cancellation, settings } = this.batch;
    if (cancellation.cancelled) return this.finish(CANCELLED);
    const result = failedResult(this.call, error);
    if (isWithoutAsker(error) || settings.rethrow.some((type) => isInstance(error, type)))
      return this.finish(result, { error, rethrowUnchanged: true });
    const policy = this.tool?.metadata.onToolError ?? settings.onToolError;
    if (typeof policy === 'function') return this.callPolicy(policy, result);
    return this.finish(result, policy === 'throw' ? { error, rethrowUnchanged: false } : undefined);
  }

  private async callPolicy(
    policy: Exclude<ToolErrorPolicy, string>,
    result: ToolResult,
  ): Promise<this> {
    const { cancellation } = this.batch;
    try {
      const running = (async (): Promise<unknown> => policy(result.error, this.call))();
      const content = await untilCancelled(running, cancellation);
      const isText = typeof content === 'string' && content.trim() !== '';
      return this.finish(isText ? { ...result, content } : result);
    } catch (error) {
      if (cancellation.cancelled) return this.finish(CANCELLED);
      return this.finish(result, { error, rethrowUnchanged: true });
    }
  }

  /** Ends the call without a result: it runs when its turn is resumed. */
  private pause(error: unknown): this {
    const { batch, call } = this;
    this.finished = this.paused = true;
    pauseCall(batch.record, call);
    this.thrown = { error, rethrowUnchanged: true };
    return this;
  }

  private finish(given: ToolResult, thrown?: BatchCall['thrown'], hasStarted = true): this {
    const { outcome, batch, call, ran, checkedRan } = this;
    this.finished = true;
    this.thrown = thrown;
    this.accepted = hasStarted && (outcome === 'success' || outcome === 'error');
    const { maxResultLength } = batch.settings;
    const result = ownResult(given, truncateContent(given.content, maxResultLength));
    this.result = result;
    if (this.accepted && !thrown && !result.isError)
      keepResult({ call, edited: ran === call ? undefined : { ran, checkedRan }, result }, batch);
    batch.emit({ type: 'tool-result', toolName: ran.name, call: checkedRan, result });
    return this;
  }
}
