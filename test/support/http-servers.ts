import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { toNodeHandler, type NodeHandler } from '../../src/bridges/http/index.js';

/** A handler of web-standard requests. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** A server on loopback. */
export interface StartedServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on a free port of loopback. */
export async function listen(server: NetServer): Promise<StartedServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      (server as Partial<Server>).closeAllConnections?.();
    });
  return { port, close };
}

type Hook = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void | Promise<void>;

interface ExpressApp extends RequestListenerOf {
  use(path: string | Hook, hook?: Hook): void;
}
type RequestListenerOf = (request: IncomingMessage, response: ServerResponse) => void;

interface FastifyApp {
  readonly server: NetServer;
  addHook(
    name: string,
    hook: (request: unknown, reply: { header(name: string, value: string): void }) => Promise<void>,
  ): void;
  all(path: string, handler: NodeHandler): void;
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** The part of Express that tests use; docs/http.md is compiled with its own types. */
async function loadExpress(): Promise<{
  readonly default: (() => ExpressApp) & { readonly json: () => Hook };
}> {
  const name = 'express';
  return (await import(name)) as Awaited<ReturnType<typeof loadExpress>>;
}

/** The part of Fastify that tests use; docs/http.md is compiled with its own types. */
async function loadFastify(): Promise<{ readonly default: () => FastifyApp }> {
  const name = 'fastify';
  return (await import(name)) as Awaited<ReturnType<typeof loadFastify>>;
}

/** Servers with a handler for each path and method, by the name of their framework. */
export const FRAMEWORKS: Readonly<Record<string, (handler: Handler) => Promise<StartedServer>>> = {
  'node:http': (handler) =>
    listen(createServer((request, response) => void toNodeHandler(handler)(request, response))),
  Express: async (handler) => {
    const { default: express } = await loadExpress();
    const app = express();
    app.use((_request, response, next) => (response.setHeader('x-hook', '1'), next()));
    app.use('/parsed', express.json());
    app.use('/sub', toNodeHandler(handler));
    app.use(toNodeHandler(handler));
    return listen(createServer(app));
  },
  Fastify: async (handler) => {
    const { default: fastify } = await loadFastify();
    const app = fastify();
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('x-hook', '1');
    });
    app.all('/*', toNodeHandler(handler));
    await app.ready();
    const started = await listen(app.server);
    return { port: started.port, close: async () => (await started.close(), app.close()) };
  },
  Hono: (handler) => {
    const app = new Hono();
    app.all('/*', (c) => handler(c.req.raw));
    return new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
        const close = (): Promise<void> =>
          new Promise((end) => {
            server.close(() => end());
            (server as Server).closeAllConnections();
          });
        resolve({ port, close });
      });
    });
  },
};

/** A server of HTTP/2 without encryption. */
export function listenHttp2(handler: Handler): Promise<StartedServer> {
  const server: Http2Server = createHttp2Server(
    (request, response) => void toNodeHandler(handler)(request, response),
  );
  return listen(server);
}

/** A response whose body a test reads or not, of a request on a connection of its own. */
export function open(
  port: number,
  path = '/',
  headers: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { port, path, headers, host: '127.0.0.1', agent: false } as const;
    httpRequest(options, resolve).on('error', reject).end();
  });
}
