import { checkCustomEvent, type ToolResult } from '../chat/chat-event.js';
import type { ToolCall } from '../chat/message.js';
import { untilCancelled } from '../internal/cancellation.js';
import { frozenCopy } from '../internal/frozen-copy.js';
import type { Observation, ToolCallOutcome } from '../observation/observation.js';
import { checkToolResult, ownResult } from '../tool/tool-result.js';
import { truncateContent } from '../tool/truncate.js';
import type { ToolCallWrapper, ToolErrorPolicy, ToolInvocation } from '../tool/tool.js';
import { callTool, messageForModel } from './call-tool.js';
import type { CheckedCall } from './check-call.js';
import { exceededError } from './exceeded.js';
import type { FinishedCall } from './execution-result.js';
import { hasToolFailed, noteToolEnd } from './failed-calls.js';
import { keepResult, keptResult } from './kept-results.js';
import type { ErrorClass } from './manager-options.js';
import { isPause, pausedCall } from './paused-call.js';
import { CallContext, type ToolEmitter } from './tool-context.js';
import type { Batch } from './tool-run.js';

/**
 * Runs a checked call. Never throws or rejects: an error for the caller is in the finished call.
 */
export function runCall(checked: CheckedCall, batch: Batch): FinishedCall | Promise<FinishedCall> {
  const { observation: parent, iteration } = batch.run;
  if (!parent) return new RunningCall(checked, batch).start();
  const { call, tool } = checked;
  const observation = parent.begin({ type: 'tool-call', call, tool, iteration });
  const report = (finished: FinishedCall): FinishedCall => {
    if (finished.paused) {
      observation.end({ type: 'error', error: finished.thrown?.error });
      return finished;
    }
    const { result } = finished.executed;
    const outcome = outcomeOf(checked, result, batch.cancellation.cancelled);
    observation.end({ type: 'tool-result', result, outcome });
    return finished;
  };
  const finished = observation.run(() => new RunningCall(checked, batch, observation).start());
  return finished instanceof Promise ? finished.then(report) : report(finished);
}

function outcomeOf(
  { outcome }: CheckedCall,
  { isError }: ToolResult,
  cancelled: boolean,
): ToolCallOutcome {
  if (cancelled && isError) return 'cancelled';
  return outcome === 'success' && isError ? 'error' : outcome;
}

/** A call from its `tool-call` event to its `tool-result` event. */
class RunningCall implements ToolEmitter {
  private finished = false;
  /** The call with the arguments that an advisor, or a person, has replaced; that of the transcript. */
  private edited: ToolCall | undefined;
  private progressCount = 0;

  constructor(
    private readonly checked: CheckedCall,
    private readonly batch: Batch,
    private readonly observation?: Observation,
  ) {}

  start(): FinishedCall | Promise<FinishedCall> {
    const { checked, batch } = this;
    const { call, tool, outcome, error, failure } = checked;
    batch.emit({ type: 'tool-call', toolName: call.name, call });
    // a listener of the event may have cancelled the run
    if (batch.cancellation.cancelled) return this.finish(CANCELLED, undefined, false);
    if (outcome === 'refused') return this.finish({ content: error as string, isError: true });
    if (outcome !== 'success' || !tool) return this.fail(error);
    if (failure)
      return this.finish(failedResult(call, failure.error), { ...failure, rethrowUnchanged: true });
    const kept = keptResult(call, batch);
    if (kept) {
      this.edit(kept.ran);
      return this.finish(kept.result);
    }
    const context = new CallContext(call, batch, batch.cancellation, this);
    return this.run({ call, tool, arguments: checked.arguments, context });
  }

  /** @throws {@link ToolError} beyond the limit, which also ends a tool that never does */
  readonly progress: ToolEmitter['progress'] = (given) => {
    if (this.finished) return;
    const { name } = this.checked.call;
    const { maxProgress: value } = this.batch.settings;
    if (++this.progressCount > value) {
      const problem = `The tool "${name}" was stopped: it emitted more than ${value} progress values`;
      throw exceededError(problem, name, { limit: 'progress', value, option: 'maxProgress' });
    }
    const data = frozenCopy(given); // a tool may report one object again and again
    this.batch.emit({ type: 'tool-progress', toolName: name, call: this.checked.call, data });
  };

  readonly emit: ToolEmitter['emit'] = (event) => {
    checkCustomEvent(event, `tool "${this.checked.call.name}": emit(…)`);
    if (!this.finished) this.batch.emit(event);
  };

  private run(invocation: ToolInvocation): Promise<FinishedCall> {
    const { wrap } = this.batch.run;
    if (wrap) return this.runWrapped(frozenInvocation(invocation), wrap);
    return callTool(invocation, this.batch, this.observation).then(
      (result) => this.succeed(result),
      (error: unknown) => this.fail(error),
    );
  }

  private async runWrapped(
    invocation: ToolInvocation,
    wrap: ToolCallWrapper,
  ): Promise<FinishedCall> {
    const { cancellation } = this.batch;
    const { call } = invocation;
    /** All errors of the tool, also those that an advisor handled. */
    const toolErrors: unknown[] = [];
    const next = (inner: ToolInvocation): Promise<ToolResult> => {
      noteToolEnd(call, false);
      const result = callTool(inner, this.batch, this.observation).then((own) => ownResult(own));
      // also handles a rejection that no advisor handles, which would end the process
      result.catch((error: unknown) => {
        noteToolEnd(call, true);
        toolErrors.push(error);
      });
      return result;
    };
    try {
      // an advisor that never settles must not delay the end of a cancelled run
      const onCall = (call: ToolCall): void => this.edit(call);
      const running = Promise.resolve(wrap(invocation, next, onCall));
      return this.succeed(await untilCancelled(running, cancellation));
    } catch (error) {
      if (isPause(error)) return this.pause(error);
      if (hasToolFailed(call) || toolErrors.includes(error) || messageForModel(error) !== undefined)
        return this.fail(error);
      if (cancellation.cancelled) return this.fail(error);
      // an advisor's own error is not a failure of the tool; only the caller can handle it
      return this.finish(failedResult(call, error), { error, rethrowUnchanged: true });
    }
  }

  private edit({ arguments: text }: ToolCall): void {
    const { call } = this.checked;
    this.edited = text === call.arguments ? undefined : Object.freeze({ ...call, arguments: text });
  }

  private succeed(result: ToolResult): FinishedCall | Promise<FinishedCall> {
    try {
      checkToolResult(result);
      return this.finish(result);
    } catch (error) {
      return this.fail(error);
    }
  }

  /** Applies the error policy of the tool. */
  private fail(error: unknown): FinishedCall | Promise<FinishedCall> {
    this.finished = true;
    if (isPause(error)) return this.pause(error);
    const { call, tool } = this.checked;
    const { cancellation, settings } = this.batch;
    if (cancellation.cancelled) return this.finish(CANCELLED);
    const result = failedResult(call, error);
    if (settings.rethrow.some((type) => isInstance(error, type)))
      return this.finish(result, { error, rethrowUnchanged: true });
    const policy = tool?.metadata.onToolError ?? settings.onToolError;
    if (typeof policy === 'function') return this.callPolicy(policy, result);
    return this.finish(result, policy === 'throw' ? { error, rethrowUnchanged: false } : undefined);
  }

  private async callPolicy(
    policy: Exclude<ToolErrorPolicy, string>,
    result: ToolResult,
  ): Promise<FinishedCall> {
    const { cancellation } = this.batch;
    try {
      const running = (async (): Promise<unknown> => policy(result.error, this.checked.call))();
      const content = await untilCancelled(running, cancellation);
      const isText = typeof content === 'string' && content.trim() !== '';
      return this.finish(isText ? { ...result, content } : result);
    } catch (error) {
      if (cancellation.cancelled) return this.finish(CANCELLED);
      return this.finish(result, { error, rethrowUnchanged: true });
    }
  }

  private pause(error: unknown): FinishedCall {
    this.finished = true;
    return pausedCall(this.checked.call, error, this.batch);
  }

  private finish(
    given: ToolResult,
    thrown?: FinishedCall['thrown'],
    hasStarted = true,
  ): FinishedCall {
    this.finished = true;
    const { tool, outcome } = this.checked;
    const { edited: call = this.checked.call } = this;
    const accepted = hasStarted && (outcome === 'success' || outcome === 'error');
    const { maxResultLength } = this.batch.settings;
    const result = ownResult(given, truncateContent(given.content, maxResultLength));
    if (accepted && !thrown && !result.isError)
      keepResult(this.checked.call, call, this.batch, result);
    this.batch.emit({ type: 'tool-result', toolName: call.name, call, result });
    const returnDirect = accepted && tool?.metadata.returnDirect === true;
    return { executed: { call, result, accepted }, returnDirect, thrown };
  }
}

const CANCELLED: ToolResult = {
  content: 'Not run to its end: the turn was cancelled.',
  isError: true,
};

/**
 * An error result with the message of a `ToolError`, or a general one: other messages may contain
 * secrets.
 */
function failedResult(call: ToolCall, error: unknown): ToolResult {
  const content = messageForModel(error) || `The tool "${call.name}" failed. Error id: ${call.id}`;
  return { content, isError: true, error };
}

/** Freezes an invocation: an advisor may have asked a user about the arguments. */
function frozenInvocation(invocation: ToolInvocation): ToolInvocation {
  return Object.freeze({ ...invocation, arguments: frozenCopy(invocation.arguments) });
}

function isInstance(error: unknown, type: ErrorClass): boolean {
  try {
    return error instanceof type;
  } catch {
    return false;
  }
}
