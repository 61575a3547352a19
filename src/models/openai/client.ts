import {
  CancelledError,
  InvalidArgumentError,
  ModelTimeoutError,
} from '../../core/errors/errors.js';
import { isPlainObject, type JsonObject } from '../../core/internal/options.js';
import {
  connect,
  environment,
  type Api,
  type Connection,
  type ConnectionOptions,
} from '../http/connection.js';
import { ConnectionError, HttpError } from '../http/http-error.js';
import { followRedirects } from '../http/redirects.js';
import { collectSecrets, withoutSecrets } from '../../core/internal/redact.js';

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
export interface OpenAIConnectionOptions extends ConnectionOptions {
  /**
   * A ready client of the `openai` package (Azure, hooks of its own), in place of `apiKey`,
   * `baseURL`, `fetch` and `headers`.
   */
  readonly client?: OpenAIClient | undefined;
}

/** Makes the request of a body to a path of the API. */
type Post = Connection['post'];

const API: Api = {
  baseURL: 'https://api.openai.com/v1',
  baseURLVariable: 'OPENAI_BASE_URL',
  keyVariables: ['OPENAI_API_KEY'],
  headers: (key) => ({
    authorization: key === undefined ? undefined : `Bearer ${key}`,
    'openai-organization': environment('OPENAI_ORG_ID'),
    'openai-project': environment('OPENAI_PROJECT_ID'),
  }),
};

/**
 * Connects through the given client, or else by `fetch`. The package `openai` is never loaded here:
 * that would take longer than loading this library.
 *
 * @param where begins the messages of errors
 * @throws {@link InvalidArgumentError} if there is no API key, or an option of the connection is
 * invalid
 */
export function connectToOpenAI(where: string, options: OpenAIConnectionOptions): Connection {
  const { client } = options;
  if (!client) return connect(where, options, API);
  for (const name of ['fetch', 'headers'] as const)
    if (options[name])
      throw new InvalidArgumentError(`${where}: give ${name} to the client, not beside it`);
  return {
    baseURL: client.baseURL,
    post: postThrough(client),
    secrets: () => secretsOf(client),
  };
}

/**
 * Posts through a client of the application with all its features: its `fetch`, authentication,
 * hooks. The client gets an object as body because subclasses (Azure) look up the model in it.
 */
function postThrough(client: OpenAIClient): Post {
  return (path, body) => {
    const url = client.baseURL.replace(/\/+$/, '') + path;
    const send = (signal: AbortSignal, timeout: number): Promise<Response> => {
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
          throw fromPackageError(error, client, url);
        }
      });
    };
    return Object.assign(send, { url, toObject: body.toObject });
  };
}

/** Converts an error of the package. Its classes come from the client: there may be two copies. */
function fromPackageError(error: unknown, client: OpenAIClient, url: string): unknown {
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
    return new ConnectionError(error.message, { cause: error.cause, url });
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
