import type { ToolResult } from '../chat/chat-event.js';
import { untilCancelled } from '../internal/cancellation.js';
import type { Observation, ToolCallOutcome } from '../observation/observation.js';
import { checkToolResult, truncateContent } from '../tool/tool-result.js';
import type { Tool, ToolCallWrapper, ToolInvocation } from '../tool/tool.js';
import { callTool } from './call-tool.js';
import type { CheckedCall } from './check-call.js';
import type { FinishedCall } from './execution-result.js';
import { createToolContext } from './tool-context.js';
import {
  cancelledResult,
  errorResult,
  failedResult,
  messageForModel,
  toFailure,
  type ToolFailure,
} from './tool-failure.js';
import type { BatchContext } from './tool-run.js';

/**
 * Runs a checked call. Never throws or rejects: an error for the caller is in the finished call.
 */
export function runCall(
  checked: CheckedCall,
  batch: BatchContext,
): FinishedCall | Promise<FinishedCall> {
  const { observation: parent, iteration } = batch;
  if (!parent) return new RunningCall(checked, batch).start();
  const { call } = checked;
  const tool = checked.state === 'refused' ? batch.tools.get(call.name) : checked.tool;
  const observation = parent.begin({ type: 'tool-call', call, tool, iteration });
  const report = (finished: FinishedCall): FinishedCall => {
    const { result } = finished.executed;
    const outcome = outcomeOf(checked, result, batch.cancellation.cancelled);
    observation.end({ type: 'tool-result', result, outcome });
    return finished;
  };
  const finished = observation.run(() => new RunningCall(checked, batch, observation).start());
  return finished instanceof Promise ? finished.then(report) : report(finished);
}

function outcomeOf(
  checked: CheckedCall,
  { isError }: ToolResult,
  cancelled: boolean,
): ToolCallOutcome {
  if (cancelled && isError) return 'cancelled';
  if (checked.state === 'refused') return 'refused';
  if (checked.state === 'failed' && !checked.accepted)
    return checked.tool ? 'invalid_arguments' : 'unknown_tool';
  return isError ? 'error' : 'success';
}

/** A call from its `tool-call` event to its `tool-result` event. */
class RunningCall {
  private finished = false;
  /** The last call of the tool failed. */
  private toolFailed = false;
  /** All errors of the tool, also those that an advisor handled. */
  private readonly toolErrors: unknown[] = [];

  constructor(
    private readonly checked: CheckedCall,
    private readonly batch: BatchContext,
    private readonly observation?: Observation,
  ) {}

  start(): FinishedCall | Promise<FinishedCall> {
    const { checked, batch } = this;
    const { call } = checked;
    if (!batch.cancellation.cancelled) batch.emit({ type: 'tool-call', call });
    // a listener of the event may have cancelled the run
    if (batch.cancellation.cancelled) return this.finish({ result: cancelledResult() }, false);
    switch (checked.state) {
      case 'refused':
        return this.finish({ result: errorResult(checked.reason) }, false);
      case 'failed':
        return this.fail(checked.error);
      case 'valid':
        return this.run(this.invocation(checked));
    }
  }

  private invocation({
    call,
    tool,
    arguments: args,
  }: CheckedCall & { state: 'valid' }): ToolInvocation {
    const { values, advisorContext, turn, cancellation, calledBefore } = this.batch;
    const context = createToolContext({
      call,
      values,
      advisorContext,
      turn,
      cancellation,
      calledBefore: () => calledBefore(call),
      progress: (data) => {
        if (!this.finished) this.batch.emit({ type: 'tool-progress', call, data });
      },
    });
    return { call, tool, arguments: args, context };
  }

  private run(invocation: ToolInvocation): Promise<FinishedCall> {
    if (this.batch.wrap) return this.runWrapped(invocation, this.batch.wrap);
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
    try {
      const running = Promise.resolve(wrap(invocation, (inner) => this.callFromAdvisor(inner)));
      // an advisor that never settles must not delay the end of a cancelled run
      return this.succeed(await untilCancelled(running, cancellation));
    } catch (error) {
      if (cancellation.cancelled || this.threw(error) || messageForModel(error) !== undefined)
        return this.fail(error);
      // an advisor's own error is not a failure of the tool; only the caller can handle it
      const result = failedResult(invocation.call, error);
      return this.finish({ result, thrown: { error, rethrowUnchanged: true } });
    }
  }

  private callFromAdvisor(invocation: ToolInvocation): Promise<ToolResult> {
    this.toolFailed = false;
    const result = callTool(invocation, this.batch, this.observation);
    // also handles a rejection that no advisor handles, which would end the process
    result.catch((error: unknown) => {
      this.toolFailed = true;
      this.toolErrors.push(error);
    });
    return result;
  }

  /** Checks that the tool threw an error, or that its last call failed. */
  private threw(error: unknown): boolean {
    return this.toolFailed || this.toolErrors.includes(error);
  }

  private succeed(result: ToolResult): FinishedCall | Promise<FinishedCall> {
    try {
      checkToolResult(result);
      return this.finish({ result });
    } catch (error) {
      return this.fail(error);
    }
  }

  private fail(error: unknown): FinishedCall | Promise<FinishedCall> {
    this.finished = true;
    const failure = toFailure(this.checked.call, this.tool, error, this.batch);
    return failure instanceof Promise
      ? failure.then((each) => this.finish(each))
      : this.finish(failure);
  }

  private finish({ result, thrown }: ToolFailure, accepted = this.accepted): FinishedCall {
    this.finished = true;
    const { call } = this.checked;
    const content = truncateContent(result.content, this.batch.maxResultLength);
    const truncated = content === result.content ? result : { ...result, content };
    this.batch.emit({ type: 'tool-result', call, result: truncated });
    const returnDirect = accepted && this.tool?.metadata.returnDirect === true;
    return { executed: { call, result: truncated, accepted }, returnDirect, thrown };
  }

  private get tool(): Tool | undefined {
    return this.checked.state === 'refused' ? undefined : this.checked.tool;
  }

  private get accepted(): boolean {
    const { checked } = this;
    return checked.state === 'valid' || (checked.state === 'failed' && checked.accepted);
  }
}
