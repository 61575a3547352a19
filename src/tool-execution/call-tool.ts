import type { ToolResult } from '../chat/chat-event.js';
import { ToolError } from '../errors.js';
import { backoffDelay, delay } from '../internal/backoff.js';
import {
  Cancellation,
  cancellationOf,
  cancelledError,
  type Cancellable,
} from '../internal/cancellation.js';
import type { Observation } from '../observation/observation.js';
import {
  conversionError,
  convertedResult,
  isToolResult,
  resultContent,
} from '../tool/tool-result.js';
import type { ToolContext, ToolInvocation } from '../tool/tool.js';
import { followItems } from './progress.js';
import { createToolContext, fieldsOf } from './tool-context.js';
import { messageForModel } from './tool-failure.js';
import type { BatchContext } from './tool-run.js';

const BACKOFF = { first: 200, max: 5_000 };

/**
 * Calls a tool, with its time limit and retries. When the time is up or the run is cancelled, the
 * tool's signal aborts and the call is abandoned: later results and errors of the tool are ignored.
 * @throws the error of the tool, {@link ToolError} when the time is up, {@link CancelledError}
 */
export function callTool(
  invocation: ToolInvocation,
  batch: BatchContext,
  observation: Observation | undefined,
): Promise<ToolResult> {
  const retries = maxRetries(invocation);
  return new Promise((resolve, reject) => {
    const attempt = (retry: number): void => {
      const fail = (error: unknown, retryable: boolean): void => {
        if (!retryable || retry >= retries) return reject(error);
        observation?.note({ type: 'retry', error });
        delay(backoffDelay(retry, BACKOFF), cancellationOfCall(invocation)).then(
          () => attempt(retry + 1),
          reject,
        );
      };
      new Attempt(invocation, batch, observation, resolve, fail).start();
    };
    attempt(0);
  });
}

/** Only calls without side effects, or with the same effect each time, are ever repeated. */
function maxRetries({ tool: { metadata } }: ToolInvocation): number {
  return metadata.effect === 'read' || metadata.effect === 'idempotent'
    ? (metadata.retries ?? 0)
    : 0;
}

function cancellationOfCall({ context }: ToolInvocation): Cancellable {
  return fieldsOf(context)?.cancellation ?? cancellationOf(context.signal);
}

class Attempt {
  private settled = false;
  private counted = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private cancellation: Cancellation | undefined;
  private release: (() => void) | undefined;
  private stopItems: (() => void) | undefined;
  /** The value of the tool, while it is being converted. */
  private returned: { readonly value: unknown } | undefined;

  constructor(
    private readonly invocation: ToolInvocation,
    private readonly batch: BatchContext,
    private readonly observation: Observation | undefined,
    private readonly onResult: (result: ToolResult) => void,
    private readonly onError: (error: unknown, retryable: boolean) => void,
  ) {}

  start(): void {
    const { tool, context, arguments: args } = this.invocation;
    this.release = cancellationOfCall(this.invocation).onCancel((cause) =>
      this.abandon(cancelledError(cause), false, cause),
    );
    if (this.settled) return;
    const timeout = tool.metadata.timeout ?? this.batch.timeout;
    try {
      // without a time limit, an attempt ends with the run and shares its signal
      const value = tool.call(args, timeout === Infinity ? context : this.limit(timeout));
      if (isThenable(value))
        Promise.resolve(value).then(
          (each) => this.receive(each),
          (error: unknown) => this.fail(error),
        );
      else this.receive(value);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Starts the timer; returns the context of the attempt. */
  private limit(timeout: number): ToolContext {
    const { call, context } = this.invocation;
    const cancellation = (this.cancellation = new Cancellation());
    this.timer = setTimeout(() => {
      const error = new ToolError(`The tool "${call.name}" did not answer within ${timeout} ms.`);
      this.observation?.note({ type: 'timeout', error });
      this.abandon(error, true);
    }, timeout);
    const progress = (data: unknown): void => {
      if (!this.settled) context.progress(data);
    };
    const fields = fieldsOf(context);
    return fields
      ? createToolContext({ ...fields, cancellation, progress })
      : { ...context, signal: cancellation.signal, progress };
  }

  /** Receives the value that the tool returned, or its Promise resolved to. */
  private receive(value: unknown): void {
    if (this.settled) return this.countAbandoned();
    try {
      const stop = followItems(value, {
        progress: (item) => {
          if (!this.settled) this.invocation.context.progress(item);
        },
        done: (last) => this.convert(last),
        fail: (error) => this.fail(error),
      });
      if (!stop) return this.convert(value);
      this.stopItems = stop;
      if (this.settled) stop(); // abandoned by a listener of its first items
    } catch (error) {
      this.fail(error); // a getter of the value threw
    }
  }

  private convert(value: unknown): void {
    if (this.settled) return this.countAbandoned();
    try {
      const { tool } = this.invocation;
      if (isToolResult(value)) return this.succeed(value);
      if (!tool.toContent) return this.succeed({ content: resultContent(value), value });
      this.returned = { value };
      void convertedResult(tool, value).then((result) =>
        this.settled ? this.countAbandoned() : this.succeed(result),
      );
    } catch (error) {
      this.fail(error);
    }
  }

  /** Counts the end of an abandoned tool, once. */
  private countAbandoned(): void {
    if (!this.counted) this.batch.countAbandoned();
    this.counted = true;
  }

  private abandon(error: Error, retryable: boolean, reason: unknown = error): void {
    this.settled = true;
    this.stopItems?.();
    this.cancellation?.cancel(reason);
    // a tool that has run must not run again because the conversion of its result timed out
    if (this.returned && retryable)
      this.succeed(conversionError(this.invocation.tool, this.returned.value, error));
    else {
      this.settle();
      this.onError(error, retryable);
    }
  }

  private fail(error: unknown): void {
    if (this.settled) return this.countAbandoned();
    this.settle();
    this.onError(error, messageForModel(error) === undefined);
  }

  private succeed(result: ToolResult): void {
    this.settle();
    this.onResult(result);
  }

  private settle(): void {
    this.settled = true;
    clearTimeout(this.timer);
    this.release?.();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}
