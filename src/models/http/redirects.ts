import { ModelCallError } from '../../core/errors/errors.js';
import { ConnectionError } from './http-error.js';

/** Maximum number of redirects that a request follows. */
const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Sends a request to an address; resolves with a redirect, which it must not follow itself. */
export type SendTo = (address: string, method: 'POST' | 'GET') => Promise<Response>;

/**
 * Follows redirects within the origin of an address as `fetch` does, but never to credentials in a
 * location. `fetch` itself would send the prompt and all credentials but `authorization` to any
 * origin, and take its answer for the model's.
 *
 * @param send with redirects left to the caller (`redirect: 'manual'`)
 * @throws {@link ModelCallError} at a redirect to another origin; nothing is sent there
 */
export async function followRedirects(address: string, send: SendTo): Promise<Response> {
  let method: 'POST' | 'GET' = 'POST';
  let target = address;
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
    const response = await send(target, method);
    const { status } = response;
    const next = targetOf(response, target);
    if (next === undefined) return response;
    response.body?.cancel().catch(() => undefined);
    if (!isWithin(next, address)) throw foreign(next, status);
    if (status !== 307 && status !== 308) method = 'GET';
    target = next;
  }
  // its cause is not one of the network: a retry would go in the same circle
  const cause = new TypeError('too many redirects');
  throw new ConnectionError('redirect count exceeded', { cause });
}

/** The address that a response redirects to; undefined without a redirect. */
function targetOf(response: Response, address: string): string | undefined {
  // a browser hides the address
  if (response.type === 'opaqueredirect') throw foreign('', undefined);
  // a `fetch` of the application may have followed by itself
  if (response.redirected && originOf(response.url) !== originOf(address)) return response.url;
  if (!REDIRECTS.includes(response.status)) return undefined;
  const location = response.headers.get('location');
  if (location === null) return undefined;
  return URL.canParse(location, address) ? new URL(location, address).href : location;
}

/** True for an address of the same origin without credentials, or with the first one's. */
function isWithin(next: string, address: string): boolean {
  if (!URL.canParse(next)) return false;
  const [there, here] = [new URL(next), new URL(address)];
  // not the origin: `blob:https://host/` has the same one
  if (there.protocol !== here.protocol || there.host !== here.host) return false;
  const credentials = `${there.username}:${there.password}`;
  return credentials === ':' || credentials === `${here.username}:${here.password}`;
}

function originOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).origin : undefined;
}

/** The origin alone: the rest of an address may hold credentials. */
function foreign(address: string, status: number | undefined): ModelCallError {
  const origin = originOf(address) ?? 'an address that is not shown';
  return new ModelCallError(
    `The server redirects to another origin, or to an address with credentials (${origin}), which is not followed. Does the base URL belong to the API?`,
    { status },
  );
}
