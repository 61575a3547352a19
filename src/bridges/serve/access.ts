import { isFromLoopback } from '../http/peer.js';
import { refusal } from './openai-error.js';

/**
 * Checks a key and returns the caller that it belongs to, such as a user or tenant; a falsy value
 * refuses it. Compare keys in constant time.
 */
export type Authorize = (key: string, request: Request) => unknown;

const BEARER = /^bearer ([\x21-\x7e]{1,4096})$/i;
const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The caller of a request.
 * @throws {@link Refusal} if it has no access
 */
export async function callerOf(request: Request, authorize?: Authorize): Promise<unknown> {
  if (!authorize) return checkLoopback(request);
  const key = BEARER.exec(request.headers.get('authorization') ?? '')?.[1];
  const caller = key === undefined ? undefined : await authorize(key, request);
  if (caller) return caller;
  const text = key === undefined ? 'There is no API key.' : 'The API key is not valid.';
  throw refusal(401, 'invalid_api_key', text, { 'www-authenticate': 'Bearer' });
}

/**
 * A host name is a claim of the request; the connection is none. Pages of other sites may not use a server on the
 * computer of their reader, also by a name that leads to it.
 */
function checkLoopback(request: Request): undefined {
  const { url, headers } = request;
  const origin = headers.get('origin');
  const isNamed = isLoopback(url) && (origin === null || isLoopback(origin));
  const isLocal = isNamed && isFromLoopback(request);
  if (isLocal && headers.get('sec-fetch-site') !== 'cross-site') return;
  throw refusal(403, 'no_access', 'There is no access without a key.');
}

function isLoopback(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);
}
