import { InvalidArgumentError } from '../../core/errors/errors.js';
import {
  checkOption,
  FUNCTION,
  integer,
  integerOrInfinity,
  type JsonObject,
  orFunction,
  PLAIN_OBJECT,
  TEXT,
} from '../../core/internal/options.js';
import { ConnectionError, HttpError } from './http-error.js';
import type { SendRequest } from './http-request.js';
import { collectSecrets } from '../../core/internal/redact.js';
import { followRedirects } from './redirects.js';

/** Options for the connection to the server of a model; alike for all models. */
export interface ConnectionOptions {
  /**
   * Key of the API, or a function that returns a token, such as one of a cloud provider that
   * expires; it is called for each attempt of a request.
   * @default the environment variable that the page of the model names
   */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Address of the API, such as `http://127.0.0.1:11434/v1`. @default the provider's */
  readonly baseURL?: string | undefined;
  /** Function to send requests by, such as one that goes through a proxy. @default `globalThis.fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Headers of every request; they replace the model's. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
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

/** Rules for {@link ConnectionOptions}. */
export const CONNECTION_RULES = {
  apiKey: orFunction(TEXT),
  fetch: FUNCTION,
  headers: PLAIN_OBJECT,
  maxRetries: integer(0),
  maxResponseBytes: integerOrInfinity(1),
};
/** The default of `maxResponseBytes`: twice an image of 4096 x 4096 pixels in base64. */
export const MAX_RESPONSE_BYTES = 64 * 2 ** 20;

/** A request body in both forms; only the one that is needed is made. */
export interface RequestBody {
  readonly toObject: () => JsonObject;
  readonly toText: () => string;
}

/** A body whose text is the JSON of its object. */
export function jsonBody(toObject: () => JsonObject): RequestBody {
  return { toObject, toText: () => JSON.stringify(toObject()) };
}

/** The means to reach a server. Functions hide the key from `inspect`. */
export interface Connection {
  readonly baseURL: string;
  /** Makes the request of a body to a path of the API. */
  readonly post: (path: string, body: RequestBody) => SendRequest;
  /** Credentials that must not appear in errors. */
  readonly secrets: () => readonly string[];
}

/** The address of a provider's API, and how a request authenticates. */
export interface Api {
  readonly baseURL: string;
  /** Environment variable with another address. */
  readonly baseURLVariable?: string;
  /** Environment variables with the key; the first that is set counts. */
  readonly keyVariables: readonly string[];
  /** True if the API can be used without a key. @default false */
  readonly isOpen?: boolean;
  /** Headers of a request; undefined ones are left out. */
  readonly headers: (key: string | undefined) => Readonly<Record<string, string | undefined>>;
}

/**
 * Connects by `fetch`.
 *
 * @param where begins the messages of errors
 * @throws {@link InvalidArgumentError} if there is no key, a header is invalid, or `baseURL` is not
 * an address or holds credentials
 */
export function connect(where: string, options: ConnectionOptions, api: Api): Connection {
  const { headers = {}, fetch } = options;
  const baseURL = options.baseURL ?? environment(api.baseURLVariable) ?? api.baseURL;
  checkAddress(where, baseURL);
  const apiKey = options.apiKey ?? api.keyVariables.map(environment).find(Boolean);
  if (apiKey === undefined && options.baseURL === undefined && !api.isOpen)
    throw new InvalidArgumentError(`${where}: give apiKey (or set ${api.keyVariables[0]})`);
  let keys: readonly (string | undefined)[] = [];
  const headersFor = (key: string | undefined) => {
    if (!keys.includes(key)) keys = [key, ...keys].slice(0, MAX_KEYS);
    return toHeaders(where, { ...CONTENT, ...api.headers(key) }, headers);
  };
  const whenFixed = typeof apiKey === 'function' ? undefined : headersFor(apiKey);
  const authenticate = async () =>
    headersFor(await tokenFrom(where, apiKey as () => string | Promise<string>));
  return {
    baseURL,
    post: (path, body) =>
      sendBy(fetch, baseURL.replace(/\/+$/, '') + path, body, () => whenFixed ?? authenticate()),
    secrets: () => collectSecrets(keys, [headers], baseURL),
  };
}

/** The value of an environment variable; undefined if it is blank. Browsers have no process. */
export function environment(name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : globalThis.process?.env[name]?.trim();
  return value === '' ? undefined : value;
}

/** Number of tokens to keep out of errors: requests with earlier ones may still run. */
const MAX_KEYS = 16;
const CONTENT = { accept: 'application/json', 'content-type': 'application/json' };

type HeaderList = [name: string, value: string][];

function toHeaders(
  where: string,
  own: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, string>>,
): HeaderList {
  const values: Record<string, string> = {};
  for (const [name, value] of [...Object.entries(own), ...Object.entries(given)])
    if (value !== undefined) values[name.toLowerCase()] = value;
  const list = Object.entries(values);
  try {
    void new Headers(list);
  } catch {
    // the error of `Headers` shows the value
    throw new InvalidArgumentError(
      `${where}: apiKey or headers contain a character that a header cannot have`,
    );
  }
  return list;
}

async function tokenFrom(where: string, apiKey: () => string | Promise<string>): Promise<string> {
  const token = await apiKey();
  checkOption(where, 'the result of apiKey', token, TEXT);
  return token;
}

/** Its signal may be lost at a garbage collection on Node.js 20; requests cancel bodies themselves. */
function sendBy(
  fetch: typeof globalThis.fetch | undefined,
  url: string,
  body: RequestBody,
  headersOf: () => HeaderList | Promise<HeaderList>,
): SendRequest {
  const send = async (signal: AbortSignal): Promise<Response> => {
    const text = body.toText();
    const given = headersOf();
    const headers = Array.isArray(given) ? given : await given;
    const response = await followRedirects(url, async (address, method) => {
      const content = method === 'GET' ? {} : { body: text };
      const request: RequestInit = { method, headers, signal, redirect: 'manual', ...content };
      try {
        return await (fetch ?? globalThis.fetch)(address, request);
      } catch (error) {
        if (signal.aborted || !(error instanceof Error)) throw error;
        throw new ConnectionError(error.message, { cause: error, url });
      }
    });
    if (response.ok) return response;
    throw await HttpError.from(response);
  };
  return Object.assign(send, { url, toObject: body.toObject });
}

/** @throws {@link InvalidArgumentError} if it is not a web address, or holds credentials */
function checkAddress(where: string, baseURL: string): void {
  const address = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  if (!address?.protocol.startsWith('http') || address.username !== '' || address.password !== '')
    throw new InvalidArgumentError(
      `${where}: baseURL must be an address that begins with http:// or https:// and holds no credentials; give those as apiKey`,
    );
}
