import { checkOptions, checkOption, FUNCTION } from '../../core/internal/options.js';
import { notify } from '../../core/internal/notify.js';
import { errorResponse, printError, toHttpError, type HttpError } from './http-error.js';
import { toRequest } from './node-request.js';
import type { NodeIncoming, NodeOutgoing, WrappedIncoming, WrappedOutgoing } from './node-types.js';

/** Options of {@link toNodeHandler}. */
export interface NodeHandlerOptions {
  /**
   * Receives an error of the handler from status 500 on, with the form that the client sees.
   * @default `console.error`
   */
  readonly onError?: ((error: unknown, shown: HttpError) => void) | undefined;
}

/** A handler of `node:http`, Express and Fastify. It never rejects. */
export type NodeHandler = (
  request: NodeIncoming | WrappedIncoming,
  response: NodeOutgoing | WrappedOutgoing,
) => Promise<void>;

/**
 * A handler of web-standard requests as a handler of `node:http`, Express or Fastify. The request has
 * the signal of its connection, and the body that a parser has left. The response waits for a slow
 * client; its body is cancelled when the client leaves. An error of the handler is answered by
 * {@link toHttpError}; an error of the body breaks the connection.
 * @throws InvalidArgumentError if the handler or an option is invalid
 *
 * @example app.post('/chat', toNodeHandler(POST)); // Express, Fastify
 * @example createServer(toNodeHandler(POST)).listen(3000, '127.0.0.1')
 */
export function toNodeHandler(
  handler: (request: Request) => Response | Promise<Response>,
  options: NodeHandlerOptions = {},
): NodeHandler {
  checkOption('toNodeHandler', 'handler', handler, FUNCTION);
  checkOptions('toNodeHandler', options, { onError: FUNCTION });
  const { onError = printError } = options;
  return async (request, response) => {
    const outgoing = unwrap(response);
    const [incoming, parsed] = partsOf(request);
    const closing = new AbortController();
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) closing.abort();
    });
    const toOwn = (): Request => toRequest(incoming, parsed, closing.signal);
    await send(await answerOf(handler, toOwn, onError), outgoing, incoming.method === 'HEAD');
  };
}

function partsOf(request: NodeIncoming | WrappedIncoming): [NodeIncoming, unknown] {
  const { body } = request as { readonly body?: unknown };
  return ['raw' in request ? request.raw : request, body];
}

/** The response of Node.js; a reply of Fastify leaves it to the handler, with the headers of its hooks. */
function unwrap(response: NodeOutgoing | WrappedOutgoing): NodeOutgoing {
  if (!('raw' in response)) return response;
  const { raw } = response;
  response.hijack();
  for (const [name, value] of Object.entries(response.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value as string);
  return raw;
}

async function answerOf(
  handler: (request: Request) => Response | Promise<Response>,
  request: () => Request,
  onError: (error: unknown, shown: HttpError) => void,
): Promise<Response> {
  try {
    return await handler(request());
  } catch (error) {
    const shown = toHttpError(error);
    if (shown.status >= 500) notify(() => onError(error, shown));
    return errorResponse(shown);
  }
}

async function send(answer: Response, outgoing: NodeOutgoing, isHead: boolean): Promise<void> {
  const { body, status, headers } = answer;
  if (outgoing.destroyed || outgoing.headersSent) return cancel(body);
  const cookies = headers.getSetCookie();
  for (const [name, value] of headers) if (name !== 'set-cookie') outgoing.setHeader(name, value);
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies);
  outgoing.writeHead(status);
  if (!body || isHead) {
    outgoing.end();
    return cancel(body);
  }
  outgoing.flushHeaders?.();
  await sendBody(body.getReader(), outgoing);
}

async function sendBody(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  outgoing: NodeOutgoing,
): Promise<void> {
  let wake: (() => void) | undefined;
  outgoing.on('error', () => undefined); // `close` follows
  outgoing.on('drain', () => wake?.());
  outgoing.on('close', () => {
    void cancel(reader);
    wake?.();
  });
  try {
    for (
      let next = await reader.read();
      !next.done && !outgoing.destroyed;
      next = await reader.read()
    )
      if (!outgoing.write(next.value)) await new Promise<void>((resolve) => (wake = resolve));
    outgoing.end();
  } catch {
    outgoing.destroy(); // a client must not take what it has for a whole answer
  }
}

/** Cancels a body that has no reader any more; the error of a source that does not end has none either. */
async function cancel(body: { cancel(): Promise<void> } | null): Promise<void> {
  await body?.cancel().catch(() => undefined);
}
