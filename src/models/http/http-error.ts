import {
  AdvisorChainError,
  CancelledError,
  IncompleteResponseError,
  LimitExceededError,
  ModelCallError,
  type ModelCallErrorOptions,
} from '../../core/errors/errors.js';
import { describe } from '../../core/errors/describe.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import { isContextOverflow } from '../../core/errors/context-overflow.js';
import { readError, unwrap } from './error-body.js';
import { retryAfterOf, retryDelayIn } from './retry-after.js';
import { redact, withoutQuery, withoutSecrets } from '../../core/internal/redact.js';
import { truncate } from '../../core/internal/text.js';

/** Options of an error of a request. */
interface RequestErrorOptions extends ErrorOptions {
  /** Address of the request. */
  readonly url?: string | undefined;
}

/** A response with an error status. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly url: string | undefined;

  /** @param body the error that the server reported; undefined if the response had none */
  constructor(
    readonly status: number,
    readonly headers: Headers | undefined,
    readonly body: unknown,
    message = `status ${status}`,
    options: RequestErrorOptions = {},
  ) {
    super(message, options);
    this.url = withoutQuery(options.url);
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
  readonly url: string | undefined;

  constructor(message: string, options: RequestErrorOptions = {}) {
    super(message, options);
    this.url = withoutQuery(options.url);
  }
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
    `The server answered, but not with ${expected} (${found}). Does the base URL belong to the API?`,
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
 * The error for a body that cannot be read; not retryable: an HTML page or another document is not
 * an API response.
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
export function tooLargeError(
  value: number,
  spent: number,
  received?: ReceivedDetails,
): LimitExceededError {
  const details = {
    limit: 'response-bytes',
    value,
    spent,
    option: 'maxResponseBytes',
    ...received,
  };
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
  if (error instanceof ConnectionError || (retryable && received === undefined)) {
    const { url } = error as Partial<ConnectionError>;
    const server = url === undefined ? 'The server' : `The server at ${redact(url, secrets)}`;
    return new ModelCallError(`${server} could not be reached: ${reason}`, { cause, retryable });
  }
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
  const providerMessage = truncate(redact(text, secrets), 500) || undefined;
  const providerCode = redact(codes[0] ?? '', secrets) || undefined;
  const status = details.status ?? statusIn(body);
  const texts = [text, reportedBehind(body)];
  const contextOverflow = isContextOverflow({ status, codes, texts });
  const isTemporary = status === undefined ? TEMPORARY.test(codes[0] ?? '') : isRetryable(status);
  const reason = providerMessage ?? providerCode ?? 'no reason given';
  return new ModelCallError(`${problem}: ${reason}${NEXT_STEPS[details.status ?? 0] ?? ''}`, {
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

/** The next step for a status, which a server rarely names. */
const NEXT_STEPS: Readonly<Record<number, string>> = {
  401: '; check apiKey',
  404: '; check model and baseURL',
};

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
