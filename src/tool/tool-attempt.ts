import { Cancellation, cancellationOf, type Cancellable } from '../chat/cancellation.js';
import type { ToolResult } from '../chat/chat-event.js';
import { CancelledError, ToolError } from '../errors.js';
import { resultText } from './result-text.js';
import { isToolResult, type ToolContext, type ToolInvocation } from './tool.js';

const cancellations = new WeakMap<ToolContext, Cancellable>();

/** The context of a call; its signal is made only if somebody asks for it. */
export function toolContext(cancellation: Cancellable, context: Omit<ToolContext, 'signal'>): ToolContext {
  const { call, values, advisorContext, progress } = context;
  const own: ToolContext = {
    call,
    get signal() {
      return cancellation.signal;
    },
    values,
    advisorContext,
    progress,
  };
  cancellations.set(own, cancellation);
  return own;
}

/**
 * Runs a tool once, in its time. When the time is up or the run is cancelled, the tool's signal aborts, and what the tool still
 * does is ignored.
 * @param timeout milliseconds, for a tool without a timeout of its own
 * @throws whatever the tool throws, {@link ToolError} when its time is up, {@link CancelledError}
 */
export function attemptTool(invocation: ToolInvocation, timeout: number): Promise<ToolResult> {
  return new Promise((resolve, reject) => new Attempt(invocation, resolve, reject).start(timeout));
}

class Attempt {
  private over = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private cancellation: Cancellation | undefined;
  private release: (() => void) | undefined;

  constructor(
    private readonly invocation: ToolInvocation,
    private readonly resolve: (result: ToolResult) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  start(timeout: number): void {
    const { tool, context } = this.invocation;
    const run = cancellations.get(context) ?? cancellationOf(context.signal);
    this.release = run.onCancel((reason) => this.giveUp(new CancelledError('The run was cancelled.', { cause: reason }), reason));
    if (this.over) return;
    const time = tool.metadata.timeout ?? timeout;
    // without a time of its own, an attempt ends with the run and shares its signal
    this.run(time === Infinity ? context : this.limited(time)).then(
      (result) => this.end(() => this.resolve(result)),
      (error: unknown) => this.end(() => this.reject(error)),
    );
  }

  private async run(context: ToolContext): Promise<ToolResult> {
    const { tool, arguments: args } = this.invocation;
    const value: unknown = await tool.call(args, context);
    return isToolResult(value) ? value : { content: resultText(value), value };
  }

  /** Sets the timer; gives the context for the tool. */
  private limited(time: number): ToolContext {
    const { call, context } = this.invocation;
    const { values, advisorContext } = context;
    const late = `The tool "${call.name}" did not answer within ${time} ms.`;
    const progress = (data: unknown): void => {
      if (!this.over) context.progress(data);
    };
    this.timer = setTimeout(() => this.giveUp(new ToolError(late)), time);
    this.cancellation = new Cancellation();
    return toolContext(this.cancellation, { call, values, advisorContext, progress });
  }

  private giveUp(error: Error, reason: unknown = error): void {
    this.end(() => this.reject(error));
    this.cancellation?.cancel(reason);
  }

  /** Only the first end counts: a promise settles once. */
  private end(deliver: () => void): void {
    this.over = true;
    clearTimeout(this.timer);
    this.release?.();
    deliver();
  }
}
