import { onAbort } from '../../chat/abort.js';
import type { ModelRun } from '../../chat/chat-model.js';
import { tell } from '../../chat/tell.js';
import { ModelCallError } from '../../errors.js';

/** The longest that a server may make us wait; if it asks for more, the caller is told instead. */
const MAX_WAIT = 60_000;

/** How often something is tried again, what ends it, and who is told of it. */
export interface RetryOptions {
  readonly maxRetries: number;
  readonly signal: AbortSignal;
  readonly onRetry?: ModelRun['onRetry'];
  /** What an error of an attempt is to us. @default itself */
  readonly wrap?: (error: unknown) => unknown;
}

/** Tries again what failed for a passing reason, at most `maxRetries` times: after what the server asks, or 0.5 s, 1 s, 2 s … 8 s. */
export function withRetries<T>(retries: RetryOptions, attempt: () => Promise<T>, tries = 0): Promise<T> {
  const { maxRetries, signal, onRetry, wrap } = retries;
  return attempt().catch(async (cause: unknown) => {
    const error = wrap ? wrap(cause) : cause;
    if (tries >= maxRetries || signal.aborted || !(error instanceof ModelCallError) || !error.retryable) throw error;
    const wait = error.retryAfter ?? Math.min(500 * 2 ** tries, 8_000) * (0.75 + Math.random() / 4);
    if (wait > MAX_WAIT) throw error;
    await sleep(wait, signal);
    if (signal.aborted) throw error;
    tell(() => onRetry?.(error));
    return withRetries(retries, attempt, tries + 1);
  });
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      release();
      resolve();
    }, milliseconds);
    const release = onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
