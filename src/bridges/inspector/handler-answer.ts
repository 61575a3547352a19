import { AdvisorChainError, InvalidArgumentError } from '../../core/errors/errors.js';
import { errorResponse, toHttpError, type HttpError } from '../http/index.js';
import { withHttpError } from '../http/http-error.js';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Headers of all answers: no other page embeds, reads or keeps them. */
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** An answer with a body of a type. */
export function answer(
  body: string | ReadableStream | null,
  type: string | undefined,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Response {
  const typed = type === undefined ? {} : { 'content-type': type };
  return new Response(body, { status, headers: { ...HEADERS, ...typed, ...headers } });
}

export function jsonAnswer(
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Response {
  return answer(JSON.stringify(value), 'application/json; charset=utf-8', headers, status);
}

/** Leads to another address of the page, with a cookie. */
export function redirect(location: string, cookie?: string): Response {
  const headers = { location, ...(cookie !== undefined && { 'set-cookie': cookie }) };
  return answer(null, undefined, headers, 303);
}

/** The answer to a request that failed. */
export function errorAnswer(shown: HttpError): Response {
  const response = errorResponse(shown);
  for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value);
  if (shown.status === 401) response.headers.set('www-authenticate', 'Bearer');
  return response;
}

/** A refusal of the handler itself. */
export function refusal(status: number, code: string, message: string): InvalidArgumentError {
  return withHttpError(new InvalidArgumentError(message), { status, code, message });
}

/** An error of a turn that could not begin: its developer reads the text of an error of the library. */
export function startError(error: unknown): unknown {
  const shown = toHttpError(error);
  if (!AdvisorChainError.isInstance(error) || shown.status < 500) return error;
  const { message } = error;
  return withHttpError(new InvalidArgumentError(message, { cause: error }), {
    status: 422,
    code: shown.code,
    message,
  });
}
