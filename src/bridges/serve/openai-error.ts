import { InvalidArgumentError } from '../../core/errors/errors.js';
import { errorResponse, toHttpError, type HeaderFields, type HttpError } from '../http/index.js';

/** The field `error` of an answer, as clients of OpenAI read it. */
export interface OpenAIError extends HttpError {
  readonly type: string;
  readonly param: null;
}

/** A refusal of the endpoint itself, before a run. */
export class Refusal extends InvalidArgumentError {
  constructor(
    readonly shown: OpenAIError,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(shown.message);
  }
}

export function refusal(
  status: number,
  code: string,
  message: string,
  headers?: Readonly<Record<string, string>>,
): Refusal {
  return new Refusal(openAIError({ status, code, message }), headers);
}

/** An error of a run, or of a request, with what its client may see. */
export function toOpenAIError(error: unknown): OpenAIError {
  return error instanceof Refusal ? error.shown : openAIError(toHttpError(error));
}

function openAIError(shown: HttpError): OpenAIError {
  const { status, code } = shown;
  // clients cut their history at this status and code
  const isTooLong = status === 413 && code !== 'request_too_large' && code !== 'paused_state';
  const known = isTooLong ? { ...shown, status: 400, code: 'context_length_exceeded' } : shown;
  return { ...known, type: typeOf(known.status), param: null };
}

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error';
  if (status === 402) return 'insufficient_quota';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** The answer to a request that failed. */
export function toErrorResponse(error: unknown, headers?: HeaderFields): Response {
  const response = errorResponse(toOpenAIError(error), headers);
  const own = error instanceof Refusal ? error.headers : {};
  for (const [name, value] of Object.entries(own)) response.headers.set(name, value);
  return withRetryHint(response);
}

/** Tools of a failed turn may have run: clients repeat it only if it was refused for a time. */
export function withRetryHint(response: Response): Response {
  const { status, headers } = response;
  if (status >= 400 && status !== 429 && status !== 503) headers.set('x-should-retry', 'false');
  return response;
}
