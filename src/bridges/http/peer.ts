/** The addresses from which requests came, as their connections have them. */
const peers = new WeakMap<Request, string>();

const LOOPBACK = /^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/i;
/** Headers of proxies, whose own address the connection then has. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** Keeps the address of the connection of a request. */
export function setPeer(request: Request, address: unknown): Request {
  if (typeof address === 'string') peers.set(request, address);
  return request;
}

/** True if the connection of a request is known to be of this computer, and no proxy names another one. */
export function isFromLoopback(request: Request): boolean {
  return !isForwarded(request) && LOOPBACK.test(peers.get(request) ?? '');
}

/** True if a request is known to come from another computer: by its connection, or by the words of a proxy. */
export function isFromElsewhere(request: Request): boolean {
  return !isFromLoopback(request) && (peers.has(request) || isForwarded(request));
}

function isForwarded({ headers }: Request): boolean {
  return FORWARDED.some((name) => headers.has(name));
}
