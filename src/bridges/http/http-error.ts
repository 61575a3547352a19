import { AdvisorChainError } from '../../core/errors/errors.js';
import { CLIENT_LEFT, INTERNAL, STATUSES, TIMED_OUT, type StatusText } from './error-statuses.js';

/** An error as a client may see it: without stack, cause, addresses and values of the server. */
export interface HttpError {
  /** The HTTP status, from 400 to 599. */
  readonly status: number;
  /** The permanent code of the error; `internal` for errors of the application. */
  readonly code: string;
  /** A text that is safe to show. */
  readonly message: string;
  /** Set from status 500: the same for the same error, to find it in the logs of the server. */
  readonly id?: string;
  /** Seconds until the request may succeed; also the header `Retry-After`. */
  readonly retryAfter?: number;
}

/** Headers of an application. */
export type HeaderFields = Headers | Readonly<Record<string, string>>;

const CODE = /^[a-z][a-z0-9_]{0,63}$/;
const MAX_RETRY_AFTER = 24 * 60 * 60;
const ids = new WeakMap<object, string>();
/** The form of an error that another process has shown. Not enumerable: data from outside does not have it. */
const SHOWN = Symbol.for('advisor-chain.http-error');

/** Lets {@link toHttpError} show an error as it was shown before. */
export function withHttpError<E extends object>(error: E, shown: HttpError): E {
  return Object.defineProperty(error, SHOWN, { value: shown });
}

/**
 * The status of an error, with code and text that are safe to show. Never throws. Statuses by code:
 * docs/http.md.
 */
export function toHttpError(error: unknown): HttpError {
  try {
    return httpErrorOf(error);
  } catch {
    return shown(INTERNAL, 'internal', {}); // a getter or a proxy threw
  }
}

function httpErrorOf(error: unknown): HttpError {
  if (typeof error !== 'object' || error === null) return shown(INTERNAL, 'internal', {});
  const known = (error as { readonly [SHOWN]?: HttpError })[SHOWN];
  if (known) return known;
  if (!AdvisorChainError.isInstance(error)) return ofForeign(error);
  const { code, cause } = error;
  if (code === 'cancelled') return ofCancellation(error, cause);
  const row = STATUSES.get(code);
  const text = typeof row === 'function' ? row(error) : (row ?? INTERNAL);
  return shown(text, CODE.test(code) ? code : 'internal', error);
}

/** A cancelled run has the reason of its signal: a time limit, a newer turn, or a client that left. */
function ofCancellation(error: object, cause: unknown): HttpError {
  if (nameOf(cause) === 'TimeoutError') return shown(TIMED_OUT, 'cancelled', error);
  const isReplaced = AdvisorChainError.isInstance(cause) && cause.code === 'conversation_lock';
  return isReplaced ? httpErrorOf(cause) : shown(CLIENT_LEFT, 'cancelled', error);
}

function ofForeign(error: object): HttpError {
  const name = nameOf(error);
  if (name === 'TimeoutError') return shown(TIMED_OUT, 'timeout', error);
  if (name === 'AbortError') return shown(CLIENT_LEFT, 'cancelled', error);
  return shown(INTERNAL, 'internal', error);
}

function nameOf(error: unknown): unknown {
  return error instanceof Error ? error.name : undefined;
}

function shown([status, message]: StatusText, code: string, error: object): HttpError {
  const retryAfter = status === 429 || status === 503 ? secondsOf(error) : undefined;
  return {
    status,
    code,
    message,
    ...(status >= 500 && { id: idOf(error) }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

function secondsOf(error: object): number | undefined {
  const { retryAfter } = error as { readonly retryAfter?: unknown };
  if (typeof retryAfter !== 'number' || !(retryAfter >= 0)) return undefined;
  return Math.min(Math.ceil(retryAfter / 1_000), MAX_RETRY_AFTER);
}

function idOf(error: object): string {
  const id = ids.get(error) ?? crypto.randomUUID();
  ids.set(error, id);
  return id;
}

/** Writes an error from status 500 on, which a client sees no more of, with `console.error`: the default of `onError`. */
export function printError(error: unknown, { status, code, id = code }: HttpError): void {
  if (status >= 500) console.error(`advisor-chain: a request failed (${id})`, error);
}

/** A copy of headers. */
export function headersOf(headers?: HeaderFields): Headers {
  return new Headers(headers as Headers | undefined);
}

/**
 * A response for an error: its status, `Retry-After` if it has one, and the JSON body
 * `{ "error": HttpError }`.
 *
 * @example return errorResponse(toHttpError(error))
 */
export function errorResponse(error: HttpError, headers?: HeaderFields): Response {
  const all = headersOf(headers);
  all.set('content-type', 'application/json; charset=utf-8');
  all.set('cache-control', 'no-store');
  all.set('x-content-type-options', 'nosniff');
  if (error.retryAfter !== undefined) all.set('retry-after', String(error.retryAfter));
  return new Response(JSON.stringify({ error }), { status: error.status, headers: all });
}
