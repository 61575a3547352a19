import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidArgumentError } from '../core/errors/argument-errors.js';

/** Loopback alone: no other computer reaches the server. */
const HOST = '127.0.0.1';

/** A server that takes requests. */
export interface Listening {
  /** Such as `http://127.0.0.1:8000`. */
  readonly address: string;
  /** Ends the server with all of its connections. */
  readonly close: () => Promise<void>;
}

/**
 * Serves on 127.0.0.1.
 * @param port 0 for one that is free
 * @throws {@link InvalidArgumentError} if the port is in use, not allowed or out of range
 */
export async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  port: number,
): Promise<Listening> {
  const server = createServer((request, response) => void handler(request, response));
  await start(server, port);
  return {
    address: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function start(server: Server, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, HOST, resolve);
    });
  } catch (cause) {
    throw portError(cause as NodeJS.ErrnoException, port);
  }
}

function portError(cause: NodeJS.ErrnoException, port: number): Error {
  const problem = PROBLEMS[cause.code ?? ''];
  if (problem === undefined) return cause;
  return new InvalidArgumentError(`port ${port} ${problem}`, { cause });
}

const PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use; port 0 takes one that is free',
  EACCES: 'is not allowed; take one from 1024 on',
  ERR_SOCKET_BAD_PORT: 'is out of range; take one from 1024 to 65535, or 0 for one that is free',
};
