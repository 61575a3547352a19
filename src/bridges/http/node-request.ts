import { cancelledError } from '../../core/internal/cancellation.js';
import { invalidInput } from './request-input.js';
import type { NodeIncoming } from './node-types.js';
import { setPeer } from './peer.js';

type Chunks = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Fields that only some requests have. */
interface Extras {
  /** The whole path in Express, where `url` is the path below the router. */
  readonly originalUrl?: unknown;
  /** Set by a body parser. */
  readonly body?: unknown;
  readonly socket?: { readonly encrypted?: unknown; readonly remoteAddress?: unknown } | null;
  readonly readableEnded?: unknown;
}

const HOST = /^[\w.:[\]-]{1,255}$/;
const BODYLESS = new Set(['GET', 'HEAD']);

/**
 * The request in its web-standard form.
 * @param parsed the body, if a parser has read it
 * @throws InvalidArgumentError of input if it has a method, host or header that no request may have
 */
export function toRequest(incoming: NodeIncoming, parsed: unknown, signal: AbortSignal): Request {
  const { socket } = incoming as Extras;
  return setPeer(newRequest(incoming, parsed, signal), socket?.remoteAddress);
}

function newRequest(incoming: NodeIncoming, parsed: unknown, signal: AbortSignal): Request {
  const method = incoming.method ?? 'GET';
  const headers = headersOf(incoming);
  const init = { method, headers, signal };
  try {
    const url = urlOf(incoming);
    if (BODYLESS.has(method)) return new Request(url, init);
    if (parsed === undefined || parsed === null)
      return new Request(url, {
        ...init,
        body: bodyOf(incoming, signal),
        duplex: 'half',
      } as RequestInit);
    return new Request(url, { ...init, body: bodyAgain(parsed, headers) });
  } catch (cause) {
    throw invalidInput('The request has an invalid method, host or path.', { cause });
  }
}

function urlOf(incoming: NodeIncoming): URL {
  const { originalUrl, socket } = incoming as Extras;
  const { headers } = incoming;
  const host = headers[':authority'] ?? headers['host'] ?? 'localhost';
  if (typeof host !== 'string' || !HOST.test(host)) throw new TypeError('an invalid host');
  const target = typeof originalUrl === 'string' ? originalUrl : (incoming.url ?? '/');
  const origin = `${socket?.encrypted === true ? 'https' : 'http'}://${host}`;
  if (target.startsWith('/')) return new URL(origin + target);
  // the form of a request to a proxy: of its own host, whatever it names
  const { pathname, search } = new URL(target, origin);
  return new URL(origin + pathname + search);
}

function headersOf({ headers }: NodeIncoming): Headers {
  const all = new Headers();
  try {
    for (const [name, value] of Object.entries(headers)) {
      if (value === undefined || name.startsWith(':')) continue;
      for (const each of [value].flat()) all.append(name, each as string);
    }
  } catch (cause) {
    throw invalidInput('The request has an invalid header.', { cause });
  }
  return all;
}

/** A body that a parser has read: as it was, or else as JSON. */
function bodyAgain(body: unknown, headers: Headers): string | Uint8Array<ArrayBuffer> {
  headers.delete('content-length');
  headers.delete('content-encoding');
  if (typeof body === 'string' || body instanceof Uint8Array)
    return body as string | Uint8Array<ArrayBuffer>;
  headers.set('content-type', 'application/json');
  return JSON.stringify(body);
}

/** The body as a stream, which is not read before it is asked for. */
function bodyOf(incoming: NodeIncoming, signal: AbortSignal): Chunks {
  let reading: BodyReading | undefined;
  return new ReadableStream(
    {
      pull: (controller) => {
        if (signal.aborted) controller.error(signal.reason);
        else if (reading) incoming.resume();
        else if ((incoming as Extras).readableEnded === true) controller.close();
        else reading = new BodyReading(incoming, controller);
      },
      cancel: () => reading?.stop(),
    },
    { highWaterMark: 0 },
  );
}

/** Reads a body chunk by chunk: each one pauses the connection until the next is asked for. */
class BodyReading {
  private readonly listeners = {
    data: (chunk: unknown): void => {
      this.incoming.pause();
      this.controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
    },
    end: (): void => {
      this.stop();
      this.controller.close();
    },
    error: (error: unknown): void => this.fail(error),
    close: (): void => this.fail(),
  };

  constructor(
    private readonly incoming: NodeIncoming,
    private readonly controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
  ) {
    for (const [event, listener] of Object.entries(this.listeners)) incoming.on(event, listener);
  }

  stop(): void {
    for (const [event, listener] of Object.entries(this.listeners))
      this.incoming.off(event, listener);
  }

  private fail(error?: unknown): void {
    this.stop();
    this.controller.error(cancelledError(error)); // the client has left
  }
}
