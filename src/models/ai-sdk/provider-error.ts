import { isPlainObject, nonEmptyString, type JsonObject } from '../../core/internal/options.js';
import { isCutJson } from '../../core/internal/partial-json.js';
import { truncate } from '../../core/internal/text.js';
import { ConnectionError, HttpError, ReportedError } from '../http/http-error.js';

/** Fields of the errors of provider packages. */
type ProviderError = Error & JsonObject;

/**
 * Converts an error of a provider's package to one of a request. Their classes are recognized by
 * their fields: an application may have several copies of the package.
 */
export async function toRequestError(error: unknown): Promise<unknown> {
  if (!(error instanceof Error)) return new ReportedError(error);
  const { statusCode: status, cause, isRetryable } = error as ProviderError;
  const url = nonEmptyString((error as ProviderError)['url']);
  if (typeof status === 'number' && status >= 400) return toHttpError(error, status, url);
  const reported = reportOf(error) ?? reportOf(cause);
  if (reported) return new ReportedError(reported['error'] || reported);
  if (isRetryable === true) return new ConnectionError(error.message, { cause, url });
  return error.name.startsWith('AI_') ? withoutFields(error) : error;
}

/** True for an answer that had begun, and broke off: in its body, or without a finish reason. */
export function isBrokenBody(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { statusCode, cause, data } = error as ProviderError;
  if (error.name === 'AI_InvalidResponseDataError' && data === undefined) return true;
  const isForeign = cause instanceof Error && !cause.name.startsWith('AI_');
  if (isForeign && typeof statusCode === 'number' && statusCode < 400) return true;
  return [error, cause].some(
    (each) => isPlainObject(each) && isCut(each['text'] ?? each['responseBody']),
  );
}

/** An error without the request and the answer, which its fields and its message repeat. */
function withoutFields({ name, message, cause }: Error): Error {
  const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
  return Object.assign(new Error(truncate(reason, MAX_REASON)), { name });
}

const MAX_REASON = 300;

function isCut(text: unknown): boolean {
  return typeof text === 'string' && isCutJson(text);
}

/** An error that a server sent in the place of an answer, which its schema rejected. */
function reportOf(error: unknown): JsonObject | undefined {
  const value = isPlainObject(error) ? error['value'] : undefined;
  return isPlainObject(value) && (value['error'] || value['type'] === 'error') ? value : undefined;
}

async function toHttpError(
  error: Error,
  status: number,
  url: string | undefined,
): Promise<HttpError> {
  const { responseBody, responseHeaders, isRetryable } = error as ProviderError;
  const headers = toHeaders(responseHeaders);
  if (isRetryable === false) headers.set('x-should-retry', 'false');
  const { body } = await HttpError.from(new Response(nonEmptyString(responseBody)));
  // the package may find the message where the form of the body is unusual
  const reported = isPlainObject(body) ? { msg: error.message, ...body } : body || error.message;
  return new HttpError(status, headers, reported, error.message, { url });
}

/** Headers without those that are invalid in a request, such as `:status`. */
export function toHeaders(fields: unknown): Headers {
  const headers = new Headers();
  for (const [name, value] of isPlainObject(fields) ? Object.entries(fields) : [])
    if (typeof value === 'string' && /^[\w-]+$/.test(name)) headers.set(name, value.trim());
  return headers;
}
