import { sha256Hex } from '../../core/internal/text.js';
import { isFromElsewhere } from '../http/peer.js';
import { refusal } from './handler-answer.js';

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;
const BEARER = /^bearer ([\w-]{1,512})$/i;
/** Sites of requests that a browser sends for the page itself, or for an address that was typed. */
const OWN_SITES: readonly (string | null)[] = [null, 'none', 'same-origin'];

/** Decides which requests reach an inspector. */
export class HandlerAccess {
  private readonly cookie: string;

  /** @param hosts besides loopback */
  constructor(
    private readonly token: string,
    private readonly hosts: readonly string[],
    private readonly path: string,
  ) {
    // the cookie goes to all servers of its host, whatever their port: it is no token for programs
    this.cookie = sha256Hex(`advisor-chain inspector cookie ${token}`);
  }

  /**
   * Refuses what a page of another site can send, also by a name that leads to this computer, and what
   * comes from another one.
   * @throws Refusal
   */
  checkOrigin(request: Request): void {
    const { headers } = request;
    const url = new URL(request.url);
    for (const host of new Set([url.host, headers.get('host') ?? url.host]))
      if (!this.isOwnHost(host, request))
        throw refusal(403, 'no_access', 'This host has no access.');
    const origin = headers.get('origin');
    const isOwn = origin === null || (URL.canParse(origin) && new URL(origin).host === url.host);
    if (isOwn && OWN_SITES.includes(headers.get('sec-fetch-site'))) return;
    throw refusal(
      403,
      'no_access',
      'Other sites have no access; copy the address of the inspector into the browser.',
    );
  }

  /**
   * The token in the address of the page.
   * @returns the cookie that replaces it; undefined without a token in the address
   * @throws Refusal for a wrong one
   */
  cookieFor(request: Request): string | undefined {
    const url = new URL(request.url);
    const [token, another] = url.searchParams.getAll('token');
    if (token === undefined) return undefined;
    if (another !== undefined || !isSame(token, this.token)) throw noToken();
    const secure = url.protocol === 'https:' ? '; Secure' : '';
    const head = `${this.cookieName(url)}=${this.cookie}`;
    return `${head}; Path=${this.path || '/'}; HttpOnly; SameSite=Strict${secure}`;
  }

  /** @throws Refusal without the token in a header, or the cookie */
  checkToken(request: Request): void {
    const { headers } = request;
    const bearer = headers.get('authorization');
    const given = headers.get('x-inspector-token') ?? BEARER.exec(bearer ?? '')?.[1];
    if (given !== undefined || bearer !== null) {
      if (given === undefined || !isSame(given, this.token)) throw noToken();
      return;
    }
    const name = this.cookieName(new URL(request.url));
    const values = (headers.get('cookie') ?? '')
      .split(';')
      .map((pair) => pair.trim().split('='))
      .filter(([key, value, ...rest]) => key === name && value !== undefined && rest.length === 0);
    if (values.length !== 1 || !isSame(values[0]?.[1] ?? '', this.cookie)) throw noToken();
  }

  /** Inspectors on several ports of a host have cookies of their own. */
  private cookieName({ port, protocol }: URL): string {
    return `advisor-chain-inspector-${port || (protocol === 'https:' ? '443' : '80')}`;
  }

  private isOwnHost(host: string, request: Request): boolean {
    const name = host.toLowerCase().replace(/:\d{1,5}$/, '');
    const isAllowed = this.hosts.some((each) =>
      [name, host.toLowerCase()].includes(each.toLowerCase()),
    );
    return isAllowed || (LOOPBACK.test(name) && !isFromElsewhere(request));
  }
}

function noToken(): Error {
  return refusal(
    401,
    'no_token',
    'The inspector opens with its token: use the address that it has printed.',
  );
}

/** Compares in a time that depends on no content: digests have one length. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [sha256Hex(given), sha256Hex(expected)];
  let difference = 0;
  for (let at = 0; at < b.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
