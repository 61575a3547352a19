import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';
import { describe } from '../../chat/message.js';
import { AdvisorChainError, CancelledError, ModelCallError, ModelTimeoutError, type ModelCallErrorOptions } from '../../errors.js';
import { isWire, textOrNone, type Wire } from './wire.js';

/** What an error is to say beside what is in it. */
export interface ErrorSurroundings {
  /** Texts that must not appear anywhere, such as the API key. */
  readonly secrets: readonly string[];
  /** The signal of the request, whose reason tells why it was aborted. */
  readonly signal: AbortSignal;
  readonly partialText?: string;
}

/** Any error of a model call as one of ours. */
export function toModelError(error: unknown, around: ErrorSurroundings): AdvisorChainError {
  if (around.signal.aborted) return toAbortError(around.signal.reason);
  if (error instanceof AdvisorChainError) return error;
  if (error instanceof APIUserAbortError) return toAbortError(error);
  const cause = withoutSecrets(error, around.secrets);
  const partial = { cause, partialText: around.partialText };
  if (error instanceof APIConnectionTimeoutError)
    return new ModelTimeoutError('The server did not answer in time; see the option timeout.', { ...partial, retryable: true });
  if (error instanceof APIConnectionError)
    return new ModelCallError(`The server could not be reached: ${reasonOf(cause)}`, { ...partial, retryable: true });
  if (error instanceof APIError && typeof error.status === 'number') return statusError(error as StatusError, partial, around.secrets);
  return new ModelCallError(`The model call failed: ${reasonOf(cause)}`, { ...partial, retryable: isNetworkError(error) });
}

function toAbortError(reason: unknown): AdvisorChainError {
  return reason instanceof AdvisorChainError ? reason : new CancelledError('The model call was cancelled.', { cause: reason });
}

type StatusError = APIError & { readonly status: number };

function statusError(error: StatusError, partial: ModelCallErrorOptions, secrets: readonly string[]): ModelCallError {
  const { status, headers } = error;
  const body = isWire(error.error) ? error.error : {};
  const details = { ...partial, ...providerDetails(body, secrets), status, retryAfter: retryAfterOf(headers) };
  const retryable = isRetryable(status) && details.providerCode !== 'insufficient_quota' && headers?.get('x-should-retry') !== 'false';
  return new ModelCallError(`The server answered ${status}: ${details.providerMessage ?? redact(error.message, secrets)}`, {
    ...details,
    retryable,
  });
}

/** An error object inside a stream or a body. */
export function inBandError(error: unknown, secrets: readonly string[], partialText: string): ModelCallError {
  const body = isWire(error) ? error : { message: String(error) };
  const details = providerDetails(body, secrets);
  const code = Number(body['status_code'] ?? body['code']);
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined;
  return new ModelCallError(`The server broke off its answer: ${details.providerMessage ?? details.providerCode ?? 'no reason given'}`, {
    ...details,
    status,
    partialText,
    retryable: status !== undefined && isRetryable(status),
  });
}

function providerDetails(body: Wire, secrets: readonly string[]): Pick<ModelCallErrorOptions, 'providerCode' | 'providerMessage'> {
  const code = body['code'] ?? body['type'];
  const message =
    textOrNone(body['message']) ??
    textOrNone(body['detail']) ??
    (body['detail'] ? JSON.stringify(body['detail']).slice(0, 500) : undefined);
  return {
    providerCode: typeof code === 'string' || typeof code === 'number' ? String(code) : undefined,
    providerMessage: message && redact(message, secrets),
  };
}

function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

/** Milliseconds that the server asks to wait (RFC 9110, section 10.2.3, and `retry-after-ms`). */
export function retryAfterOf(headers: Headers | undefined): number | undefined {
  const milliseconds = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds;
  const text = headers?.get('retry-after');
  if (!text) return undefined;
  const seconds = Number(text);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError; // what fetch throws when a connection breaks, also within a body
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return describe(error);
  const inner = error.cause instanceof Error ? ((error.cause as { code?: string }).code ?? reasonOf(error.cause)) : '';
  return inner && !error.message.includes(inner) ? `${error.message} (${inner})` : error.message;
}

const KEY_LIKE = /\b(?:sk|gsk|pk|xai|pplx)-[\w-]{8,}|\bBearer\s+\S+/g;

/** A text without credentials. */
export function redact(text: string, secrets: readonly string[]): string {
  const hidden = secrets.reduce((shown, secret) => (secret.length >= 4 ? shown.replaceAll(secret, '***') : shown), text);
  return hidden.replaceAll(KEY_LIKE, '***');
}

/** The error itself, or, if it holds a credential anywhere, an error with its name and its text without that. */
function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? redact(error, secrets) : error;
  const texts = [
    error.message,
    error.stack,
    error.cause instanceof Error ? error.cause.message : '',
    JSON.stringify((error as { error?: unknown }).error),
  ];
  if (texts.every((text) => text === undefined || redact(text, secrets) === text)) return error;
  const copy = new Error(redact(error.message, secrets));
  copy.name = error.name;
  return copy;
}
