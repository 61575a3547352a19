import { CancelledError, InvalidArgumentError, ModelTimeoutError } from '../../errors.js';
import {
  integer,
  integerOrInfinity,
  isPlainObject,
  type JsonObject,
  TEXT,
  TIMEOUT,
} from '../../internal/options.js';
import { ConnectionError, HttpError } from '../http/http-error.js';
import type { SendRequest } from '../http/http-request.js';
import { followRedirects } from '../http/redirects.js';
import { collectSecrets, withoutSecrets } from '../http/redact.js';

/** The part of a client of the `openai` package, or of a subclass such as `AzureOpenAI`, that a model uses. */
export interface OpenAIClient {
  readonly baseURL: string;
  readonly apiKey: string | null;
  post(
    path: string,
    options: { body: JsonObject; signal: AbortSignal; timeout: number; maxRetries: number },
  ): { asResponse(): Promise<Response> };
}

type PostOptions = Parameters<OpenAIClient['post']>[1];

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
  readonly client?: OpenAIClient | undefined;
  /**
   * Maximum number of retries of a request that failed temporarily (429, 5xx, connection) before
   * its first byte, >= 0. @default 2
   */
  readonly maxRetries?: number | undefined;
  /**
   * Maximum size of an answer in bytes, after decompression, >= 1; `Infinity` for none. A larger
   * one is refused while it is read. @default 67_108_864
   */
  readonly maxResponseBytes?: number | undefined;
}

/** Rules for the options that all models of this folder have. */
export const CONNECTION_RULES = {
  apiKey: TEXT,
  maxRetries: integer(0),
  timeout: TIMEOUT,
  maxResponseBytes: integerOrInfinity(1),
};
/** The default of `maxResponseBytes`: twice an image of 4096 x 4096 pixels in base64. */
export const MAX_RESPONSE_BYTES = 64 * 2 ** 20;

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
 * Connects through the given client, or else by `fetch`. The package `openai` is never loaded here:
 * that would take longer than loading this library.
 *
 * @param where begins the messages of errors
 * @throws {@link InvalidArgumentError} if there is no API key, or `baseURL` is not an address or
 * holds credentials
 */
export function connect(where: string, options: ConnectionOptions): Connection {
  const { client } = options;
  if (client)
    return {
      baseURL: client.baseURL,
      post: postThrough(client),
      secrets: () => secretsOf(client),
    };
  const baseURL = options.baseURL ?? environment('OPENAI_BASE_URL') ?? 'https://api.openai.com/v1';
  checkAddress(where, baseURL);
  const apiKey = options.apiKey ?? environment('OPENAI_API_KEY');
  if (apiKey === undefined && options.baseURL === undefined)
    throw new InvalidArgumentError(
      `${where}: give apiKey (or set OPENAI_API_KEY), or a ready client`,
    );
  return {
    baseURL,
    post: postDirectly(baseURL.replace(/\/+$/, ''), apiKey),
    secrets: () => collectSecrets([apiKey], [], baseURL),
  };
}

function environment(name: string): string | undefined {
  // browsers have no process
  const value = globalThis.process?.env[name]?.trim();
  return value === '' ? undefined : value;
}

/**
 * Posts through a client of the application with all its features: its `fetch`, authentication,
 * hooks. The client gets an object as body because subclasses (Azure) look up the model in it.
 */
function postThrough(client: OpenAIClient): Post {
  return (path, body) => (signal, timeout) => {
    const fetchOptions = { redirect: 'manual' };
    const request = { signal, timeout, maxRetries: 0, fetchOptions };
    const { baseURL } = client;
    return followRedirects(baseURL, async (address, method) => {
      // a path of its own lets a subclass (Azure) complete it
      const target = address === baseURL ? path : address;
      const content = method === 'GET' ? { method: 'get' } : { body: body.toObject() };
      try {
        return await client.post(target, { ...request, ...content } as PostOptions).asResponse();
      } catch (error) {
        const { status, headers } = isStatusError(error) ? error : {};
        if (status && status >= 300 && status < 400 && headers?.has('location'))
          return new Response(null, { status, headers });
        throw fromPackageError(error, client);
      }
    });
  };
}

/** Posts by `fetch`. Its signal may be lost at a garbage collection on Node.js 20; requests cancel bodies themselves. */
function postDirectly(baseURL: string, apiKey: string | undefined): Post {
  const headers = Object.entries({
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}`,
    'openai-organization': environment('OPENAI_ORG_ID'),
    'openai-project': environment('OPENAI_PROJECT_ID'),
  }).filter((header): header is [string, string] => header[1] !== undefined);
  return (path, body) => async (signal) => {
    const text = body.toText();
    const response = await followRedirects(baseURL + path, async (address, method) => {
      const content = method === 'GET' ? {} : { body: text };
      try {
        return await fetch(address, { method, headers, signal, redirect: 'manual', ...content });
      } catch (error) {
        if (signal.aborted || !(error instanceof Error)) throw error;
        throw new ConnectionError(error.message, { cause: error });
      }
    });
    if (response.ok) return response;
    throw await HttpError.from(response);
  };
}

/** Converts an error of the package. Its classes come from the client: there may be two copies. */
function fromPackageError(error: unknown, client: OpenAIClient): unknown {
  const isA = (name: string): boolean => {
    const errorClass: unknown = Reflect.get(client.constructor, name);
    return typeof errorClass === 'function' && error instanceof errorClass;
  };
  if (isA('APIUserAbortError'))
    return new CancelledError('The model call was cancelled.', { cause: error });
  if (isA('APIConnectionTimeoutError'))
    return new ModelTimeoutError('The server did not answer in time; see the option timeout.', {
      cause: withoutSecrets(error, secretsOf(client)),
      retryable: true,
    });
  if (isA('APIConnectionError') && error instanceof Error)
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
export function secretsOf(client: OpenAIClient): readonly string[] {
  const { apiKey, baseURL } = client;
  const options: unknown = Reflect.get(client, '_options');
  const { adminAPIKey, webhookSecret, defaultHeaders, defaultQuery } = isPlainObject(options)
    ? options
    : {};
  const keys = [apiKey, adminAPIKey, webhookSecret];
  return collectSecrets(keys, [defaultHeaders, defaultQuery], baseURL);
}

function checkAddress(where: string, baseURL: string): void {
  const address = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  if (!address?.protocol.startsWith('http') || address.username !== '' || address.password !== '')
    throw new InvalidArgumentError(
      `${where}: baseURL must be an address that begins with http:// or https:// and holds no credentials; give those as apiKey`,
    );
}
