import {
  AdvisorChainError,
  CancelledError,
  IncompleteResponseError,
  ModelCallError,
  type ModelCallErrorOptions,
} from '../../errors.js';
import { describe } from '../../internal/text.js';
import { isPlainObject } from '../../internal/options.js';
import { nonEmptyString, type JsonObject } from './json-object.js';
import { redact, withoutSecrets } from './redact.js';

/** A response with an error status. */
export class HttpError extends Error {
  override name = 'HttpError';

  /** @param body the error that the server reported; undefined if the response had none */
  constructor(
    readonly status: number,
    readonly headers: Headers | undefined,
    readonly body: unknown,
    message = `status ${status}`,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** Reads the reason of a failed response, in whatever form the server gives it. */
  static async from(response: Response): Promise<HttpError> {
    const { status, headers } = response;
    return new HttpError(status, headers, errorIn(await response.text()));
  }
}

/** A connection that failed before the response; `cause` is the error of `fetch`. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
}

/** An error that a server reported with status 200, in a stream or in a body. */
export class ReportedError extends Error {
  override name = 'ReportedError';

  constructor(readonly body: unknown) {
    super('the server reported an error');
  }
}

/** @throws {@link ReportedError} if a body, or an event of a stream, is an error */
export function throwReportedError(body: unknown): void {
  const whole = unwrap(body);
  if (!isPlainObject(whole)) return;
  const { error, object, type } = whole;
  if (error) throw new ReportedError(error);
  if (object === 'error' || type === 'error') throw new ReportedError(whole);
}

/**
 * Converts any error of a request to one of this library.
 * @param signal signal of the request; an aborted one decides the error
 * @param secrets credentials that must not appear in the error
 * @param partialText text that had arrived; undefined if the response had not begun
 */
export function toModelError(
  error: unknown,
  signal: AbortSignal,
  secrets: readonly string[],
  partialText?: string,
): AdvisorChainError {
  if (signal.aborted) return toAbortError(signal.reason);
  if (error instanceof AdvisorChainError) return error;
  if (error instanceof ReportedError) return toReportedError(error.body, secrets, partialText);
  const cause = withoutSecrets(error, secrets);
  if (error instanceof HttpError) return toStatusError(error, cause, secrets);
  const reason = reasonOf(cause);
  const retryable = isNetworkError(error);
  if (error instanceof ConnectionError || (retryable && partialText === undefined))
    return new ModelCallError(`The server could not be reached: ${reason}`, { cause, retryable });
  const details = { cause, partialText: partialText || undefined, retryable };
  return retryable
    ? new IncompleteResponseError(`The response ended early: ${reason}`, details)
    : new ModelCallError(`The model call failed: ${reason}`, details);
}

/** The error of an aborted request: the reason itself if it is an error of this library. */
export function toAbortError(reason: unknown): AdvisorChainError {
  return reason instanceof AdvisorChainError
    ? reason
    : new CancelledError('The model call was cancelled.', { cause: reason });
}

function toStatusError(
  { status, headers, body, message }: HttpError,
  cause: unknown,
  secrets: readonly string[],
): ModelCallError {
  const details = providerDetails(isPlainObject(body) ? body : {}, secrets);
  const reason =
    body === undefined ? redact(message, secrets).replace(`${status} `, '') : 'no reason given';
  return new ModelCallError(`The server answered ${status}: ${details.providerMessage ?? reason}`, {
    ...details,
    cause,
    status,
    retryable:
      isRetryable(status) && !isExhausted(body) && headers?.get('x-should-retry') !== 'false',
    retryAfter: retryAfterOf(headers),
  });
}

function toReportedError(
  error: unknown,
  secrets: readonly string[],
  partialText: string | undefined,
): ModelCallError {
  const body = isPlainObject(error) ? error : { message: String(error) };
  const details = providerDetails(body, secrets);
  const { providerMessage, providerCode } = details;
  const code = Number(body['status_code'] ?? body['code']);
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined;
  const isTemporary =
    status === undefined ? TEMPORARY.test(providerCode ?? '') : isRetryable(status);
  return new ModelCallError(
    `The server broke off its response: ${providerMessage ?? providerCode ?? 'no reason given'}`,
    {
      ...details,
      status,
      partialText: partialText || undefined,
      retryable: isTemporary && !isExhausted(body),
    },
  );
}

/** Codes of temporary failures that come without a status. */
const TEMPORARY =
  /^((internal_)?server_error|internal_error|rate_limit_(exceeded|error)|service_unavailable|timeout|overloaded_error|(engine_)?overloaded)$/;
/** Codes of an exhausted budget, which no waiting renews. */
const EXHAUSTED: readonly unknown[] = ['insufficient_quota', 'billing_hard_limit_reached'];

function providerDetails(
  body: JsonObject,
  secrets: readonly string[],
): Pick<ModelCallErrorOptions, 'providerCode' | 'providerMessage'> {
  const code = body['code'] ?? body['type'];
  const message = [body['message'], body['detail'], body['error'], body['msg']].find(Boolean);
  const isCode = typeof code === 'string' || typeof code === 'number';
  return {
    providerCode: isCode ? redact(String(code), secrets) : undefined,
    providerMessage: message
      ? redact(nonEmptyString(message) ?? JSON.stringify(message), secrets).slice(0, 500)
      : undefined,
  };
}

function isExhausted(body: unknown): boolean {
  return (
    isPlainObject(body) && [body['code'], body['type']].some((code) => EXHAUSTED.includes(code))
  );
}

function isRetryable(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || status >= 500;
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

/** An error of `fetch` for a connection that fails or breaks, not for an invalid request. */
export function isNetworkError(error: unknown): boolean {
  const thrown = error instanceof ConnectionError ? error.cause : error;
  if (thrown instanceof TypeError)
    return thrown.cause instanceof Error && !thrown.message.includes('URL');
  return error instanceof ConnectionError;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return describe(error);
  const { cause, message } = error;
  if (!(cause instanceof Error)) return message;
  const inner = (cause as { code?: string }).code ?? reasonOf(cause);
  return message.includes(inner) ? message : `${message} (${inner})`;
}

function errorIn(text: string): JsonObject {
  try {
    return errorOf(unwrap(JSON.parse(text)));
  } catch {
    return { message: plainText(text) };
  }
}

/** The body itself; Google wraps errors in a list. */
function unwrap(body: unknown): unknown {
  return Array.isArray(body) ? body[0] : body;
}

function errorOf(body: unknown): JsonObject {
  if (!isPlainObject(body)) return { message: typeof body === 'string' ? plainText(body) : '' };
  const { error, ...others } = body;
  if (isPlainObject(error)) return error;
  return typeof error === 'string' ? { ...others, message: error } : others;
}

/** The text of an HTML page, such as the error page of a proxy. */
function plainText(html: string): string {
  return html
    .replaceAll(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
