import type { ToolResult } from '../chat/chat-event.js';
import { ApprovalError, type TurnPausedError } from '../errors/errors.js';
import { hasCode } from '../errors/advisor-chain-error.js';
import { backoffDelay, delay } from '../internal/backoff.js';
import { Cancellation, cancelledError } from '../internal/cancellation.js';
import { ownCopy } from '../internal/frozen-copy.js';
import type { Observation } from '../observation/observation.js';
import { observeWait } from '../observation/observe-wait.js';
import { conversionError, convertedResult } from '../tool/convert-result.js';
import { resultText } from '../tool/result-text.js';
import { isToolResult } from '../tool/tool-result.js';
import type { ToolContext, ToolInvocation } from '../tool/tool.js';
import { exceededError } from './call-limits.js';
import { isPause, messageForModel } from './call-state.js';
import { followItems, type Items } from './progress.js';
import { CallContext, type ToolEmitter } from './tool-context.js';
import type { Batch } from './tool-run.js';

const BACKOFF = { first: 200, max: 5_000 };

/**
 * Calls a tool, with its time limit and retries. When the time is up or the run is cancelled, the
 * tool's signal aborts and the call is abandoned: later results and errors of the tool are ignored.
 * @throws the error of the tool, {@link ToolError} when the time is up, {@link CancelledError}
 */
export async function callTool(
  invocation: ToolInvocation,
  batch: Batch,
  observation: Observation | undefined,
): Promise<ToolResult> {
  const retries = maxRetries(invocation);
  for (let retry = 0; ; retry++) {
    let attempt: Attempt | undefined;
    try {
      return await new Promise<ToolResult>((resolve, reject) => {
        attempt = new Attempt(invocation, batch, observation, resolve, reject);
        attempt.start();
      });
    } catch (error) {
      if (retry >= retries || !attempt?.isRetryable(error)) throw error;
      observation?.note({ type: 'retry', error });
      const cancellation = CallContext.cancellationOf(invocation.context);
      await observeWait(observation, 'retry', (onWait) => {
        onWait();
        return delay(backoffDelay(retry, BACKOFF), cancellation);
      });
    }
  }
}

/** Only calls without side effects, or with the same effect each time, are ever repeated. */
function maxRetries({ tool: { metadata } }: ToolInvocation): number {
  return metadata.effect === 'read' || metadata.effect === 'idempotent'
    ? (metadata.retries ?? 0)
    : 0;
}

/** Wraps the pause of a nested client's turn: it does not pause this one. */
function ownError(error: unknown, { call: { name, id } }: ToolInvocation): unknown {
  if (!isPause(error) || (error as TurnPausedError).paused === undefined) return error;
  const problem = `The tool "${name}" ended with the paused turn of another client: make that client an agentTool, or handle its TurnPausedError`;
  return new ApprovalError(problem, name, id, { cause: error });
}

const unansweredOf = (context: ToolContext): Error | undefined =>
  CallContext.questionsOf(context)?.unanswered;

type EndedBy = 'tool' | 'timeout' | 'limit' | 'cancellation';

class Attempt implements ToolEmitter {
  private endedBy: EndedBy | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Milliseconds that the tool had left at the start of the timer. */
  private timeLeft = 0;
  private timerStart = 0;
  private onTimeout: (() => void) | undefined;
  /** Number of questions that wait for a person. */
  private questions = 0;
  private release: (() => void) | undefined;
  /** Cancels the context of an attempt with a time limit. */
  private cancellation: Cancellation | undefined;
  private items: Items | undefined;
  /** The value of the tool, while it is being converted. */
  private returned: { readonly value: unknown } | undefined;

  constructor(
    private readonly invocation: ToolInvocation,
    private readonly batch: Batch,
    private readonly observation: Observation | undefined,
    private readonly resolve: (result: ToolResult) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  start(): void {
    const { tool, context } = this.invocation;
    CallContext.questionsOf(context)?.restart();
    this.release = CallContext.cancellationOf(context).onCancel((cause) =>
      this.abandon('cancellation', cancelledError(cause), cause),
    );
    if (this.endedBy) return;
    const timeout = tool.metadata.timeout ?? this.batch.settings.toolTimeout;
    // without a time limit, an attempt ends with the run and shares its signal
    const running = this.runTool(timeout === Infinity ? context : this.limit(timeout));
    this.batch.track(running);
    running.then(
      (result) => this.end('tool') && this.resolve(result),
      (error: unknown) => this.end('tool') && this.reject(ownError(error, this.invocation)),
    );
  }

  isRetryable(error: unknown): boolean {
    if (hasCode(error, 'turn_paused', 'tool_question')) return false;
    if (this.endedBy === 'tool') return messageForModel(error) === undefined;
    return this.endedBy === 'timeout';
  }

  /** Starts the timer; returns the context of the attempt. */
  private limit(timeout: number): ToolContext {
    const { call, context } = this.invocation;
    const { owner } = CallContext.cancellationOf(context);
    this.cancellation = new Cancellation(undefined, owner);
    this.timeLeft = timeout;
    this.onTimeout = () => {
      const problem = `The tool "${call.name}" did not answer within ${timeout} ms`;
      const limit = { limit: 'duration', value: timeout, spent: timeout, option: 'timeout' };
      const error = exceededError(problem, call.name, limit);
      this.observation?.note({ type: 'timeout', error });
      this.abandon('timeout', error, error);
    };
    this.startTimer();
    return CallContext.withLimit(context, this.cancellation, this);
  }

  private startTimer(): void {
    if (!this.onTimeout) return;
    this.timerStart = Date.now();
    this.timer = setTimeout(this.onTimeout, this.timeLeft);
  }

  private stopTimer(): void {
    clearTimeout(this.timer);
    this.timeLeft = Math.max(0, this.timeLeft - (Date.now() - this.timerStart));
  }

  /** Stops the timeout while a person is asked. */
  async hold<T>(answer: Promise<T>): Promise<T> {
    if (this.questions++ === 0) this.stopTimer();
    try {
      return await answer;
    } finally {
      if (--this.questions === 0 && !this.endedBy) this.startTimer();
    }
  }

  readonly progress: ToolEmitter['progress'] = (data) => {
    if (!this.endedBy) this.invocation.context.progress(data);
  };

  readonly emit: ToolEmitter['emit'] = (event) => {
    if (!this.endedBy) this.invocation.context.emit(event);
  };

  /** Receives progress that the tool has not reported itself: an error would have no handler. */
  private readonly receiveItem = (item: unknown): boolean => {
    try {
      this.progress(item);
    } catch (error) {
      this.abandon('limit', error as Error, error);
    }
    return !this.endedBy;
  };

  private async runTool(context: ToolContext): Promise<ToolResult> {
    const { tool, arguments: args } = this.invocation;
    let value = await tool.call(ownCopy(args), context);
    this.items = this.endedBy ? undefined : followItems(value, this.receiveItem);
    if (this.items) {
      if (this.endedBy) this.items.stop(); // abandoned by a listener of its first items
      value = await this.items.last;
    }
    if (this.endedBy) return value as ToolResult;
    // a tool that continued without an answer has no valid result
    const question = unansweredOf(context) ?? unansweredOf(this.invocation.context);
    if (question !== undefined) throw question;
    if (isToolResult(value)) value = tool.changeResult?.(value) ?? value;
    if (!tool.validateResult && isToolResult(value)) return value;
    const { settings, slice } = this.batch;
    this.returned = { value };
    if (tool.validateResult || tool.toContent)
      return slice.run(() => convertedResult(tool, value, settings));
    const content = await slice.run(() => resultText(value, settings.maxResultLength));
    return { content, value };
  }

  private abandon(by: Exclude<EndedBy, 'tool'>, error: Error, reason: unknown): void {
    this.end(by);
    this.items?.stop();
    this.cancellation?.cancel(reason);
    // a tool that has run must not run again because the conversion of its result timed out
    if (this.returned && by === 'timeout')
      this.resolve(conversionError(this.invocation.tool, this.returned.value, error));
    else this.reject(error);
  }

  /** Returns false if the attempt has ended before: its tool was abandoned. */
  private end(by: EndedBy): boolean {
    if (this.endedBy) {
      this.batch.settings.countAbandoned();
      return false;
    }
    this.endedBy = by;
    clearTimeout(this.timer);
    this.release?.();
    return true;
  }
}
