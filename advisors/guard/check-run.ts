import type { AdvisorContext } from '../../src/core/chat/context.js';
import { ModelTimeoutError, type GuardPlace } from '../../src/core/errors/errors.js';
import {
  Cancellation,
  cancelledError,
  type Cancellable,
} from '../../src/core/internal/cancellation.js';
import type { CheckRule, GuardVerdict } from './guard-rule.js';

/** The part of a run that a check belongs to. */
export interface CheckScope {
  readonly cancellation: Cancellable;
  readonly context: AdvisorContext;
  readonly toolName?: string | undefined;
}

/**
 * The verdict of a rule, within its time.
 * @throws the error of the rule, {@link ModelTimeoutError}, or {@link CancelledError}
 */
export async function runCheck(
  rule: CheckRule,
  text: string,
  where: GuardPlace,
  { cancellation, context, toolName, timeout }: CheckScope & { readonly timeout: number },
): Promise<GuardVerdict> {
  const own = new Cancellation(undefined, cancellation.owner);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let release: (() => void) | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const end = (error: Error, reason: unknown): void => {
        reject(error);
        own.cancel(reason);
      };
      release = cancellation.onCancel((reason) => end(cancelledError(reason), reason));
      if (own.cancelled) return;
      if (timeout !== Infinity) timer = setTimeout(() => end(expired(timeout), undefined), timeout);
      const check = async (): Promise<GuardVerdict> =>
        rule.check(text, {
          where,
          context,
          toolName,
          get signal() {
            return own.signal;
          },
        });
      check().then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    release?.();
  }
}

function expired(timeout: number): Error {
  return new ModelTimeoutError(`The rule did not answer within ${timeout} ms (option timeout).`, {
    retryable: true,
    option: 'timeout',
  });
}
