import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '../bridges/http/index.js';
import {
  Inspector,
  inspectorHandler,
  type InspectorHandlerOptions,
} from '../bridges/inspector/index.js';
import type { ChatClient } from '../core/client/chat-client.js';
import { InvalidArgumentError } from '../core/errors/errors.js';

/** Options of {@link startInspector}. */
export interface StartInspectorOptions extends Omit<InspectorHandlerOptions, 'client' | 'path'> {
  /** The inspector that the client has. @default a new one, for turns of the page */
  readonly inspector?: Inspector | undefined;
  /** @default a free one */
  readonly port?: number | undefined;
}

/** A server of an inspector. */
export interface StartedInspector {
  /** The address of the page, with its token. */
  readonly url: string;
  readonly inspector: Inspector;
  /** Ends the server with all of its connections. */
  close(): Promise<void>;
}

/** Loopback alone: no other computer reaches the server. */
const HOST = '127.0.0.1';

/**
 * Serves the page of an inspector to this computer.
 * @throws {@link InvalidArgumentError} in production, for an invalid option, or a port that is not free
 */
export async function startInspector(
  client: ChatClient | undefined,
  options: StartInspectorOptions = {},
): Promise<StartedInspector> {
  const { inspector = new Inspector(), port = 0, ...own } = options;
  if (process.env['NODE_ENV'] === 'production' && own.allowInProduction !== true)
    throw new InvalidArgumentError(
      'startInspector: NODE_ENV is production, where the inspector would show the conversations of all users; unset NODE_ENV, or set allowInProduction',
    );
  const handler = inspectorHandler(inspector, { ...own, client });
  const answer = toNodeHandler(handler);
  const server = createServer((request, response) => void answer(request, response));
  await listen(server, port);
  const { port: used } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${used}/?token=${handler.token}`,
    inspector,
    close: () => closeAll(server),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void =>
      reject(
        new InvalidArgumentError(
          `startInspector: port ${port} cannot be used on ${HOST}; choose another one, or 0 for a free one`,
          { cause },
        ),
      );
    server.once('error', fail);
    try {
      server.listen(port, HOST, () => {
        server.off('error', fail);
        resolve();
      });
    } catch (cause) {
      fail(cause); // a port out of range
    }
  });
}

function closeAll(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
