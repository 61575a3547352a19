import OpenAI, { type ClientOptions } from 'openai';
import { InvalidArgumentError } from '../../errors.js';

/**
 * A client that nobody else has and that sends nothing again by itself.
 * @param owner begins the messages of errors
 * @throws {@link InvalidArgumentError} if there is no API key, or `baseURL` is no address or holds credentials
 */
export function createClient(owner: string, apiKey: string | undefined, baseURL: string | undefined): OpenAI {
  const client = newClient(owner, {
    maxRetries: 0,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL }),
  });
  const address = URL.canParse(client.baseURL) ? new URL(client.baseURL) : undefined;
  if (!address?.protocol.startsWith('http') || address.username !== '' || address.password !== '')
    throw new InvalidArgumentError(
      `${owner}: baseURL must be an address that begins with http:// or https:// and holds no credentials; give those as apiKey`,
    );
  return client;
}

function newClient(owner: string, options: ClientOptions): OpenAI {
  try {
    return new OpenAI(options);
  } catch (error) {
    // servers on one's own machine want no key, but the client wants one
    if (options.apiKey === undefined && options.baseURL !== undefined) return new OpenAI({ ...options, apiKey: 'none' });
    throw new InvalidArgumentError(`${owner}: give apiKey (or set OPENAI_API_KEY), or a ready client`, { cause: error });
  }
}
