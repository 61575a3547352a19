import { APIConnectionError, APIConnectionTimeoutError, APIUserAbortError } from 'openai';
import { describe } from '../../chat/message.js';
import {
  AdvisorChainError,
  CancelledError,
  IncompleteResponseError,
  ModelCallError,
  ModelTimeoutError,
  type ModelCallErrorOptions,
} from '../../errors.js';
import { redact, withoutSecrets } from './secrets.js';
import { isWire, textOrNone, type Wire } from './wire-json.js';

/** What an error is to say beside what is in it. */
export interface ErrorSurroundings {
  /** Texts that must not appear anywhere, such as the API key. */
  readonly secrets: readonly string[];
  /** The signal of the request, whose reason tells why it was aborted. */
  readonly signal: AbortSignal;
  /** The text that had arrived; undefined if the answer had not begun. */
  readonly partialText: string | undefined;
}

/** An error that a server sent in place of an answer, with status 200; never leaves this folder. */
export class ProviderFailure extends Error {
  constructor(readonly body: unknown) {
    super('the server reported an error');
  }
}

/** Any error of a model call as one of ours. */
export function toModelError(error: unknown, around: ErrorSurroundings): AdvisorChainError {
  if (around.signal.aborted) return toAbortError(around.signal.reason);
  if (error instanceof AdvisorChainError) return error;
  if (error instanceof APIUserAbortError) return toAbortError(error);
  const partialText = around.partialText || undefined;
  if (error instanceof ProviderFailure) return inBandError(error.body, around.secrets, partialText);
  const cause = withoutSecrets(error, around.secrets);
  if (isStatusError(error)) return statusError(error, cause, around.secrets);
  if (error instanceof APIConnectionTimeoutError)
    return new ModelTimeoutError('The server did not answer in time; see the option timeout.', { cause, retryable: true });
  if (error instanceof APIConnectionError || (isNetworkError(error) && around.partialText === undefined))
    return new ModelCallError(`The server could not be reached: ${reasonOf(cause)}`, { cause, retryable: isNetworkError(error) });
  if (isNetworkError(error))
    return new IncompleteResponseError(`The answer ended early: ${reasonOf(cause)}`, { cause, partialText, retryable: true });
  return new ModelCallError(`The model call failed: ${reasonOf(cause)}`, { cause, partialText });
}

function toAbortError(reason: unknown): AdvisorChainError {
  return reason instanceof AdvisorChainError ? reason : new CancelledError('The model call was cancelled.', { cause: reason });
}

/** An error of the `openai` package for a status; told by its fields, since an application may have a second copy of the package. */
type StatusError = Error & { readonly status: number; readonly headers?: Headers; readonly error?: unknown };

function isStatusError(error: unknown): error is StatusError {
  return error instanceof Error && typeof (error as Partial<StatusError>).status === 'number';
}

function statusError({ status, headers, error: body, message }: StatusError, cause: unknown, secrets: readonly string[]): ModelCallError {
  const details = providerDetails(isWire(body) ? body : {}, secrets);
  const retryable = isRetryable(status) && !isExhausted(body) && headers?.get('x-should-retry') !== 'false';
  const said = body === undefined ? redact(message, secrets).replace(`${status} `, '') : 'no reason given';
  return new ModelCallError(`The server answered ${status}: ${details.providerMessage ?? said}`, {
    ...details,
    cause,
    status,
    retryable,
    retryAfter: retryAfterOf(headers),
  });
}

/** An error object inside a stream or a body. */
function inBandError(error: unknown, secrets: readonly string[], partialText: string | undefined): ModelCallError {
  const body = isWire(error) ? error : { message: String(error) };
  const details = providerDetails(body, secrets);
  const code = Number(body['status_code'] ?? body['code']);
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined;
  const passing = status === undefined ? PASSING.has(details.providerCode ?? '') : isRetryable(status);
  return new ModelCallError(`The server broke off its answer: ${details.providerMessage ?? details.providerCode ?? 'no reason given'}`, {
    ...details,
    status,
    partialText,
    retryable: passing && !isExhausted(body),
  });
}

/** Codes of failures without a status that may not happen again. */
const PASSING: ReadonlySet<string> = new Set([
  'server_error',
  'internal_server_error',
  'internal_error',
  'rate_limit_exceeded',
  'rate_limit_error',
  'overloaded',
  'overloaded_error',
  'engine_overloaded',
  'service_unavailable',
  'timeout',
]);

function providerDetails(body: Wire, secrets: readonly string[]): Pick<ModelCallErrorOptions, 'providerCode' | 'providerMessage'> {
  const code = body['code'] ?? body['type'];
  const message = [body['message'], body['detail'], body['error'], body['msg']].find(Boolean);
  return {
    providerCode: typeof code === 'string' || typeof code === 'number' ? redact(String(code), secrets) : undefined,
    providerMessage: message ? redact(textOrNone(message) ?? JSON.stringify(message), secrets).slice(0, 500) : undefined,
  };
}

/** Whether money is what is missing; then no waiting helps. */
function isExhausted(body: unknown): boolean {
  return (
    isWire(body) && [body['code'], body['type']].some((code) => code === 'insufficient_quota' || code === 'billing_hard_limit_reached')
  );
}

function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

/** Milliseconds that the server asks to wait (RFC 9110, section 10.2.3, and `retry-after-ms`). */
export function retryAfterOf(headers: Headers | undefined): number | undefined {
  const milliseconds = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds;
  const text = headers?.get('retry-after')?.trim();
  if (!text) return undefined;
  const seconds = Number(text);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

/** What `fetch` throws when a connection fails or breaks, and not for an address or a header that it cannot use. */
export function isNetworkError(error: unknown): boolean {
  const thrown = error instanceof APIConnectionError ? error.cause : error;
  if (thrown instanceof TypeError) return thrown.cause instanceof Error && !thrown.message.includes('URL');
  return error instanceof APIConnectionError;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return describe(error);
  const inner = error.cause instanceof Error ? ((error.cause as { code?: string }).code ?? reasonOf(error.cause)) : '';
  return inner && !error.message.includes(inner) ? `${error.message} (${inner})` : error.message;
}
