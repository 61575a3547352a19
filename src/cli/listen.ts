import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidArgumentError } from '../core/errors/argument-errors.js';
import type { Terminal } from './terminal.js';

export interface ListenOptions {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly port: number;
  readonly terminal: Terminal;
  /** Called with the address, such as `http://127.0.0.1:8000`. */
  readonly onListening: (address: string) => void;
}

/**
 * Serves on 127.0.0.1 until Ctrl-C.
 * @throws {@link InvalidArgumentError} if the port is in use, or not allowed
 */
export async function listen(options: ListenOptions): Promise<void> {
  const { handler, port, terminal, onListening } = options;
  const { signal } = terminal;
  if (signal.aborted) return;
  const server = createServer((request, response) => void handler(request, response));
  await started(server, port);
  onListening(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  });
}

function started(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portError(error, port)));
    server.listen(port, '127.0.0.1', resolve);
  });
}

function portError(cause: NodeJS.ErrnoException, port: number): Error {
  if (cause.code === 'EADDRINUSE')
    return new InvalidArgumentError(`port ${port} is in use; --port 0 takes one that is free`, {
      cause,
    });
  if (cause.code === 'EACCES')
    return new InvalidArgumentError(`port ${port} is not allowed; take one from 1024 on`, {
      cause,
    });
  return cause;
}
