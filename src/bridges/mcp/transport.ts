import type * as ClientPackage from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { InvalidArgumentError, LimitExceededError } from '../../core/errors/errors.js';
import type { McpEndpoint, McpProgram, McpTransport } from './mcp-options.js';

type Fetch = NonNullable<McpEndpoint['fetch']>;

/** A server to which a connection can be made. */
export type McpAddress = McpProgram | McpEndpoint | McpTransport;

/** The limit of a message, and the receiver of the error beyond it. */
export interface MessageLimit {
  readonly max: number;
  readonly onExceeded: (error: LimitExceededError) => void;
}

/** @throws {@link InvalidArgumentError} if the package is not installed */
export async function loadClient(): Promise<typeof ClientPackage> {
  try {
    // bundlers treat an import in a try block as optional
    return await import('@modelcontextprotocol/client');
  } catch (cause) {
    const remedy = 'npm install @modelcontextprotocol/client@^2';
    throw new InvalidArgumentError(
      `mcpTools needs the package @modelcontextprotocol/client: ${remedy}`,
      { cause },
    );
  }
}

/** The transport of a new connection. */
export async function toTransport(address: McpAddress, limit: MessageLimit): Promise<Transport> {
  if ('transport' in address) return address.transport();
  if ('url' in address) return endStreams(await httpTransport(address, limit));
  // not a dependency of the entry: it needs Node.js
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { command, args, env, cwd, stderr } = address;
  return new StdioClientTransport({
    command,
    maxBufferSize: limit.max,
    ...(args && { args: [...args] }),
    ...(env && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
    ...(stderr !== undefined && { stderr }),
  });
}

/** A transport over HTTP, also for the end of an OAuth flow. */
export async function httpTransport(
  { url, authProvider, requestInit, fetch = globalThis.fetch }: McpEndpoint,
  limit: MessageLimit,
) {
  const { StreamableHTTPClientTransport } = await loadClient();
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: limitedFetch(fetch, limit),
    ...(authProvider && { authProvider }),
    ...(requestInit && { requestInit }),
  });
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * The error for a message that is larger than its limit.
 * @param spent bytes so far; by default unknown, and more than the limit
 */
export function messageTooLarge(max: number, spent = max + 1): LimitExceededError {
  return new LimitExceededError(`a message of the MCP server has more than ${max} bytes`, {
    limit: 'mcp-message-bytes',
    value: max,
    spent,
    option: 'maxMessageBytes',
  });
}

/** Limits the bytes of a body, and of each event of an event stream. */
function limitedFetch(fetch: Fetch, limit: MessageLimit): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.body) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const body = response.body.pipeThrough(limitedBody(limit, isStream));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

function limitedBody(limit: MessageLimit, isStream: boolean): TransformStream {
  let size = 0;
  let isEmptyLine = false;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (const byte of chunk) {
        size++;
        if (byte === LINE_FEED && isEmptyLine && isStream) size = 0; // ends an event
        if (byte !== CARRIAGE_RETURN) isEmptyLine = byte === LINE_FEED;
      }
      if (size <= limit.max) return controller.enqueue(chunk);
      const error = messageTooLarge(limit.max, size);
      controller.error(error);
      limit.onExceeded(error);
    },
  });
}

/**
 * Answers a request with an error when the stream of its answer has ended without one: the package
 * would wait for its time limit.
 */
function endStreams(transport: Transport): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const id = idOf(message);
    if (id === undefined) return send(message, options);
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      const error = { code: -32_000, message: 'the server ended its answer before its result' };
      transport.onmessage?.({ jsonrpc: '2.0', id, error });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  return transport;
}

function idOf(message: JSONRPCMessage): string | number | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}
