import {
  AdvisorChainError,
  CancelledError,
  IncompleteResponseError,
  LimitExceededError,
  ModelCallError,
  type ModelCallErrorOptions,
} from '../../errors.js';
import { describe } from '../../internal/text.js';
import { isPlainObject, type JsonObject } from '../../internal/options.js';
import { isContextOverflow } from '../../errors/context-overflow.js';
import { readError, unwrap } from './error-body.js';
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
    return new HttpError(status, headers, await readError(response));
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

/** The error for a body of another API. */
export function unexpectedBody(
  expected: string,
  found: string,
  received?: ReceivedDetails,
): ModelCallError {
  return new ModelCallError(
    `The server answered, but not with ${expected} (${found}). Is the base URL that of the API?`,
    received,
  );
}

/** The error for a body that was cut off. */
export function incompleteBody(received?: ReceivedDetails): IncompleteResponseError {
  return new IncompleteResponseError('The response ended early: it is not complete.', {
    ...received,
    retryable: true,
  });
}

/**
 * The error for a body that cannot be read: a page and other documents are no answer of the API, and
 * will not be the next time.
 * @param isCut true if the body may be the beginning of an answer
 */
export function unusableBody(
  expected: string,
  isCut: boolean,
  headers: Headers,
  secrets: readonly string[],
): ModelCallError {
  const type = headers.get('content-type') ?? 'a body without content type';
  if (isCut && !/html/i.test(type)) return incompleteBody();
  return unexpectedBody(expected, redact(type, secrets));
}

/** @throws {@link ReportedError} if a body, or an event of a stream, is an error */
export function throwReportedError(body: unknown): void {
  const whole = unwrap(body);
  if (!isPlainObject(whole)) return;
  const { error, object, type } = whole;
  if (error) throw new ReportedError(error);
  if (object === 'error' || type === 'error') throw new ReportedError(whole);
}

/** Parts of a response that had arrived before it failed. */
export type ReceivedDetails = Pick<ModelCallErrorOptions, 'partialText' | 'usage'>;

/** The error for an answer beyond the option `maxResponseBytes`. */
export function tooLargeError(value: number, received?: ReceivedDetails): LimitExceededError {
  const details = { limit: 'response-bytes', value, option: 'maxResponseBytes', ...received };
  return new LimitExceededError(`The answer of the model exceeded ${value} bytes`, details);
}

/**
 * Converts any error of a request to one of this library.
 * @param signal signal of the request; an aborted one decides the error
 * @param secrets credentials that must not appear in the error
 * @param received what had arrived; undefined if the response had not begun
 */
export function toModelError(
  error: unknown,
  signal: AbortSignal,
  secrets: readonly string[],
  received?: ReceivedDetails,
): AdvisorChainError {
  const thrown: unknown = signal.aborted ? signal.reason : error;
  if (thrown instanceof AdvisorChainError) return thrown;
  if (signal.aborted) return new CancelledError('The model call was cancelled.', { cause: thrown });
  if (error instanceof ReportedError)
    return toServerError('The server broke off its response', error.body, secrets, received);
  const cause = withoutSecrets(error, secrets);
  if (error instanceof HttpError) {
    const { status, headers, body = error.message.replace(`${status} `, '') } = error;
    return toServerError(`The server answered ${status}`, body, secrets, {
      cause,
      status,
      retryable: headers?.get('x-should-retry') !== 'false',
      retryAfter: retryAfterOf(headers),
    });
  }
  const reason = reasonOf(cause);
  const retryable = isNetworkError(error);
  if (error instanceof ConnectionError || (retryable && received === undefined))
    return new ModelCallError(`The server could not be reached: ${reason}`, { cause, retryable });
  const details = { ...received, cause, retryable };
  return retryable
    ? new IncompleteResponseError(`The response ended early: ${reason}`, details)
    : new ModelCallError(`The model call failed: ${reason}`, details);
}

/** @param details with `retryable: false` the error is not, whatever its status */
function toServerError(
  problem: string,
  error: unknown,
  secrets: readonly string[],
  details: ModelCallErrorOptions = {},
): ModelCallError {
  const body = isPlainObject(error) ? error : { message: error };
  const codes = [body['code'], body['type']]
    .filter((code) => typeof code === 'string' || typeof code === 'number')
    .map(String);
  const message = [body['message'], body['detail'], body['error'], body['msg']].find(Boolean) ?? '';
  const text = typeof message === 'string' ? message : shown(message);
  const providerMessage = redact(text, secrets).slice(0, 500) || undefined;
  const providerCode = redact(codes[0] ?? '', secrets) || undefined;
  const status = details.status ?? statusIn(body);
  const texts = [text, reportedBehind(body)];
  const contextOverflow = isContextOverflow({ status, codes, texts });
  const isTemporary = status === undefined ? TEMPORARY.test(codes[0] ?? '') : isRetryable(status);
  return new ModelCallError(`${problem}: ${providerMessage ?? providerCode ?? 'no reason given'}`, {
    ...details,
    status,
    retryAfter: details.retryAfter ?? retryDelayIn(body),
    providerCode,
    providerMessage,
    contextOverflow,
    retryable:
      isTemporary &&
      !contextOverflow &&
      details.retryable !== false &&
      !codes.some((code) => EXHAUSTED.has(code)),
  });
}

/** The error of the server behind a gateway (OpenRouter). */
function reportedBehind({ metadata }: JsonObject): string {
  const raw = isPlainObject(metadata) ? metadata['raw'] : undefined;
  return typeof raw === 'string' ? raw : '';
}

function shown(message: unknown): string {
  try {
    return JSON.stringify(message);
  } catch {
    return describe(message); // nested too deeply
  }
}

/** Codes of temporary failures that come without a status. */
const TEMPORARY =
  /^((internal_)?server_error|(internal|api)_error|rate_limit_(exceeded|error)|service_unavailable|timeout(_error)?|overloaded_error|(engine_)?overloaded)$/;
/** Codes of an exhausted budget, which no waiting renews. */
const EXHAUSTED = new Set(['insufficient_quota', 'billing_hard_limit_reached']);

/** The status that an error in a stream or in a body of status 200 mentions. */
function statusIn(body: JsonObject): number | undefined {
  const status = Number(body['status_code'] ?? body['code']);
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
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

/** Milliseconds that Google asks to wait, in the details of an error (`google.rpc.RetryInfo`). */
function retryDelayIn({ details }: JsonObject): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const info: unknown = details.find((detail) => isPlainObject(detail) && detail['retryDelay']);
  const delay = isPlainObject(info) ? info['retryDelay'] : undefined;
  const seconds = typeof delay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
  return seconds === undefined ? undefined : Number(seconds) * 1000;
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
