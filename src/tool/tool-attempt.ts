import { Cancellation, cancellationOf, type Cancellable } from '../chat/cancellation.js';
import type { ToolResult } from '../chat/chat-event.js';
import type { Observation } from '../chat/observation.js';
import { CancelledError, ToolError } from '../errors.js';
import { notShown, resultContent, shownResult } from './result-content.js';
import { followItems } from './result-items.js';
import { fieldsOf, toolContext } from './tool-context.js';
import { messageForModel } from './tool-failure.js';
import { isToolResult, type ToolContext, type ToolInvocation } from './tool.js';

/** How a call is run. */
export interface AttemptOptions {
  /** Milliseconds, for a tool without a timeout of its own. */
  readonly timeout: number;
  /** Called when a tool that was given up ends after all. */
  readonly onLate: () => void;
}

/** What an attempt came to, and whether another may end better. */
type Outcome = { readonly result: ToolResult } | { readonly error: unknown; readonly again: boolean };

/** Milliseconds before the first retry; doubled for each one after it, up to the longest. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5_000;

/**
 * Runs a tool in its time; again, if it fails and says that it may be. When the time is up or the run is cancelled, the tool's signal
 * aborts, and what the tool still does is ignored.
 * @param observation told of retries and of time that is up
 * @throws whatever the tool throws, {@link ToolError} when its time is up, {@link CancelledError}
 */
export function attemptTool(invocation: ToolInvocation, options: AttemptOptions, observation?: Observation): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    let left = retriesOf(invocation);
    let pause = FIRST_PAUSE;
    const attempt = (): void => new Attempt(invocation, options, end, observation).start();
    const end = (outcome: Outcome): void => {
      if ('result' in outcome) return resolve(outcome.result);
      if (!outcome.again || left-- <= 0) return reject(outcome.error);
      observation?.note({ type: 'retry', error: outcome.error });
      wait(pause, runOf(invocation), attempt, reject);
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    };
    attempt();
  });
}

/** Only what changes nothing, or the same however often it is done, is ever done again. */
function retriesOf({ tool: { metadata } }: ToolInvocation): number {
  return metadata.effect === 'read' || metadata.effect === 'idempotent' ? (metadata.retries ?? 0) : 0;
}

function runOf({ context }: ToolInvocation): Cancellable {
  return fieldsOf(context)?.cancellation ?? cancellationOf(context.signal);
}

function wait(time: number, run: Cancellable, then: () => void, reject: (error: unknown) => void): void {
  const timer = setTimeout(() => {
    release();
    then();
  }, time);
  const release = run.onCancel((cause) => {
    clearTimeout(timer);
    reject(cancelledBy(cause));
  });
}

function cancelledBy(cause: unknown): CancelledError {
  return new CancelledError('The run was cancelled.', { cause });
}

class Attempt {
  private over = false;
  private late = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private cancellation: Cancellation | undefined;
  private release: (() => void) | undefined;
  private stopItems: (() => void) | undefined;
  /** What the tool gave, while it is being shown. */
  private ran: { readonly value: unknown } | undefined;

  constructor(
    private readonly invocation: ToolInvocation,
    private readonly options: AttemptOptions,
    private readonly deliver: (outcome: Outcome) => void,
    private readonly observation: Observation | undefined,
  ) {}

  start(): void {
    const { tool, context, arguments: args } = this.invocation;
    this.release = runOf(this.invocation).onCancel((cause) => this.giveUp(cancelledBy(cause), false, cause));
    if (this.over) return;
    const time = tool.metadata.timeout ?? this.options.timeout;
    try {
      // without a time of its own, an attempt ends with the run and shares its signal
      const value = tool.call(args, time === Infinity ? context : this.limited(time));
      if (isThenable(value)) this.follow(Promise.resolve(value));
      else this.take(value);
    } catch (error) {
      this.fail(error);
    }
  }

  private follow(promise: Promise<unknown>): void {
    promise.then(
      (value) => this.take(value),
      (error: unknown) => this.fail(error),
    );
  }

  /** What the tool returned, or resolved to. */
  private take(value: unknown): void {
    if (this.over) return this.ignore();
    try {
      const stop = followItems(value, {
        progress: (item) => {
          if (!this.over) this.invocation.context.progress(item);
        },
        done: (last) => this.finish(last),
        fail: (error) => this.fail(error),
      });
      if (!stop) return this.finish(value);
      this.stopItems = stop;
      if (this.over) stop(); // given up by one of its first items
    } catch (error) {
      this.fail(error); // the value is foreign: a getter of it may throw
    }
  }

  private finish(value: unknown): void {
    if (this.over) return this.ignore();
    try {
      if (isToolResult(value)) return this.end({ result: value });
      const { tool } = this.invocation;
      if (!tool.toContent) return this.end({ result: { content: resultContent(value), value } });
      this.ran = { value };
      void shownResult(tool, value).then((result) => (this.over ? this.ignore() : this.end({ result })));
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    if (this.over) return this.ignore();
    this.end({ error, again: messageForModel(error) === undefined });
  }

  /** A tool that was given up has ended. */
  private ignore(): void {
    if (this.late) return;
    this.late = true;
    this.options.onLate();
  }

  /** Sets the timer; gives the context for the tool. */
  private limited(time: number): ToolContext {
    const { call, context } = this.invocation;
    const late = `The tool "${call.name}" did not answer within ${time} ms.`;
    this.timer = setTimeout(() => {
      const error = new ToolError(late);
      this.observation?.note({ type: 'timeout', error });
      this.giveUp(error, true);
    }, time);
    this.cancellation = new Cancellation();
    const progress = (data: unknown): void => {
      if (!this.over) context.progress(data);
    };
    const fields = fieldsOf(context);
    if (fields) return toolContext({ ...fields, cancellation: this.cancellation, progress });
    return { ...context, signal: this.cancellation.signal, progress };
  }

  private giveUp(error: Error, again: boolean, reason: unknown = error): void {
    this.over = true;
    this.stopItems?.();
    this.cancellation?.cancel(reason);
    const { tool } = this.invocation;
    // what has run must not be run again because it was shown too late
    this.end(this.ran && again ? { result: notShown(tool, this.ran.value, error) } : { error, again });
  }

  private end(outcome: Outcome): void {
    this.over = true;
    clearTimeout(this.timer);
    this.release?.();
    this.deliver(outcome);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { readonly then?: unknown }).then === 'function';
}
