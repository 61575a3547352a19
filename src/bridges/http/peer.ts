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
  const isForwarded = FORWARDED.some((name) => request.headers.has(name));
  return !isForwarded && LOOPBACK.test(peers.get(request) ?? '');
}
