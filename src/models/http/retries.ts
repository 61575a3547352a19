import type { ModelRun } from '../../core/chat/chat-model.js';
import { ModelCallError } from '../../core/errors/errors.js';
import { backoffDelay, delay } from '../../core/internal/backoff.js';
import { notify } from '../../core/internal/notify.js';

const BACKOFF = { first: 500, max: 8_000, jitter: 0.25 };

/** Maximum wait in milliseconds; if the server asks for more, the error is thrown. */
const MAX_WAIT = 60_000;

/** Retries attempts with a retryable error, after the delay of the server or a back-off. */
export async function withRetries<T>(
  maxRetries: number,
  run: ModelRun,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      if (retry >= maxRetries || !(error instanceof ModelCallError) || !error.retryable)
        throw error;
      const wait = error.retryAfter ?? backoffDelay(retry, BACKOFF);
      if (wait > MAX_WAIT) throw error;
      await delay(wait, run);
      notify(() => run.onRetry?.(error, wait));
    }
  }
}
