import { ModelCallError } from '../../errors.js';

/** Marks by which the AI SDK recognizes its errors across copies of its packages. */
const MARKS = ['vercel.ai.error', 'vercel.ai.error.AI_APICallError'].map((name) =>
  Symbol.for(name),
);

/**
 * Converts an error of a turn to one that the AI SDK knows. None is to be retried: the chain has
 * retried what it may, and tools may have run.
 */
export function toCallerError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return abortError(signal.reason, error);
  if (!(error instanceof ModelCallError)) return error;
  const { message, status, providerMessage } = error;
  const fields = {
    name: 'AI_APICallError',
    url: '',
    requestBodyValues: {},
    statusCode: status,
    responseBody: providerMessage,
    isRetryable: false,
  };
  const marks = Object.fromEntries(MARKS.map((mark) => [mark, true]));
  return Object.assign(new Error(message, { cause: error }), fields, marks);
}

/** The reason of the signal if it is an abort, else one. */
function abortError(reason: unknown, cause: unknown): unknown {
  const isAbort = reason instanceof Error && /^(Abort|Timeout)Error$/.test(reason.name);
  if (isAbort) return reason;
  return Object.assign(new Error('The request was aborted.', { cause }), { name: 'AbortError' });
}
