import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIUserAbortError } from 'openai';
import { CancelledError, InvalidArgumentError, ModelTimeoutError } from '../../errors.js';
import { integer, isPlainObject, TEXT } from '../../internal/options.js';
import { ConnectionError, HttpError } from '../http/http-error.js';
import { MILLISECONDS, type SendRequest } from '../http/http-request.js';
import type { JsonObject } from '../http/json-object.js';
import { collectSecrets, withoutSecrets } from '../http/redact.js';

/** Options for the connection to OpenAI or to a server with a compatible API. */
export interface ConnectionOptions {
  /** @default the environment variable `OPENAI_API_KEY` */
  readonly apiKey?: string | undefined;
  /** Address of the API, such as `http://127.0.0.1:11434/v1`. @default that of OpenAI */
  readonly baseURL?: string | undefined;
  /**
   * A ready client of the `openai` package (Azure, proxies, own headers), in place of `apiKey` and
   * `baseURL`.
   */
  readonly client?: OpenAI | undefined;
  /**
   * Maximum number of retries of a request that failed temporarily (429, 5xx, connection) before
   * its first byte, >= 0. @default 2
   */
  readonly maxRetries?: number | undefined;
}

/** Rules for the options that all models of this folder have. */
export const CONNECTION_RULES = { apiKey: TEXT, maxRetries: integer(0), timeout: MILLISECONDS };

/** A request body in both forms; only the one that is needed is made. */
export interface RequestBody {
  readonly toObject: () => JsonObject;
  readonly toText: () => string;
}

/** Makes the request of a body to a path of the API. */
export type Post = (path: string, body: RequestBody) => SendRequest;

/** The means to reach a server. Functions hide the client and its key from `inspect`. */
export interface Connection {
  readonly baseURL: string;
  readonly post: Post;
  /** Credentials of the client, which must not appear in errors. */
  readonly secrets: () => readonly string[];
}

/**
 * @param where begins the messages of errors
 * @throws {@link InvalidArgumentError} if there is no API key, or `baseURL` is not an address or
 * holds credentials
 */
export function connect(
  where: string,
  { client: ready, apiKey, baseURL }: ConnectionOptions,
): Connection {
  const client = ready ?? createClient(where, apiKey, baseURL);
  if (!ready) checkAddress(where, client.baseURL);
  return {
    baseURL: client.baseURL,
    post: ready ? postThrough(client) : postDirectly(client),
    secrets: () => secretsOf(client),
  };
}

/**
 * Posts through a client of the application with all its features: its `fetch`, authentication,
 * hooks. The client gets an object as body because subclasses (Azure) look up the model in it.
 */
function postThrough(client: OpenAI): Post {
  return (path, body) => async (signal, timeout) => {
    const request = { body: body.toObject(), signal, timeout, maxRetries: 0 };
    try {
      return await client.post(path, request).asResponse();
    } catch (error) {
      throw fromPackageError(error, client);
    }
  };
}

/**
 * Posts by `fetch`; the client makes the address and the headers. Its timers, retries and logs
 * would be a tenth of the cost of a call. Redirects are followed: if they were refused, Node.js 20
 * would lose the signal at a garbage collection, and a response that has begun could not be
 * cancelled.
 */
function postDirectly(client: OpenAI): Post {
  const headers = { 'content-type': 'application/json' };
  return (path, body) => async (signal) => {
    const text = body.toText();
    const { req, url } = await client.buildRequest({ method: 'post', path, body: text, headers });
    try {
      const response = await fetch(url, { ...req, signal } as RequestInit);
      if (response.ok) return response;
      throw await HttpError.from(response);
    } catch (error) {
      if (signal.aborted || !(error instanceof Error) || error instanceof HttpError) throw error;
      throw new ConnectionError(error.message, { cause: error });
    }
  };
}

/** Converts an error of the `openai` package. */
function fromPackageError(error: unknown, client: OpenAI): unknown {
  if (error instanceof APIUserAbortError)
    return new CancelledError('The model call was cancelled.', { cause: error });
  if (error instanceof APIConnectionTimeoutError)
    return new ModelTimeoutError('The server did not answer in time; see the option timeout.', {
      cause: withoutSecrets(error, secretsOf(client)),
      retryable: true,
    });
  if (error instanceof APIConnectionError)
    return new ConnectionError(error.message, { cause: error.cause });
  return isStatusError(error)
    ? new HttpError(error.status, error.headers, error.error, error.message, { cause: error })
    : error;
}

/** Recognizes status errors by their fields: there may be a second copy of the package. */
function isStatusError(
  error: unknown,
): error is Error & Pick<HttpError, 'status' | 'headers'> & { readonly error?: unknown } {
  return error instanceof Error && 'status' in error && typeof error.status === 'number';
}

/** Credentials of a client: keys, and those in headers, query and address. */
export function secretsOf(client: OpenAI): readonly string[] {
  const { apiKey, baseURL } = client;
  const options: unknown = Reflect.get(client, '_options');
  const { adminAPIKey, webhookSecret, defaultHeaders, defaultQuery } = isPlainObject(options)
    ? options
    : {};
  const keys = [apiKey, adminAPIKey, webhookSecret];
  return collectSecrets(keys, [defaultHeaders, defaultQuery], baseURL);
}

function createClient(
  where: string,
  apiKey: string | undefined,
  baseURL: string | undefined,
): OpenAI {
  const options = { maxRetries: 0, apiKey, baseURL };
  try {
    return new OpenAI(options);
  } catch (error) {
    // local servers need no key, but the client insists on one
    if (apiKey === undefined && baseURL !== undefined)
      return new OpenAI({ ...options, apiKey: 'none' });
    throw new InvalidArgumentError(
      `${where}: give apiKey (or set OPENAI_API_KEY), or a ready client`,
      { cause: error },
    );
  }
}

function checkAddress(where: string, baseURL: string): void {
  const address = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  if (!address?.protocol.startsWith('http') || address.username !== '' || address.password !== '')
    throw new InvalidArgumentError(
      `${where}: baseURL must be an address that begins with http:// or https:// and holds no credentials; give those as apiKey`,
    );
}
