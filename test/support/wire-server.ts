import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Json } from './cassettes.js';

/** A request as it arrived, and the means to answer it, down to its socket. */
export interface Exchange {
  /** Counts from 0. */
  readonly index: number;
  /** Path with its query. */
  readonly path: string;
  readonly body: Json;
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
  readonly socket: Socket;
}

/** An HTTP server on loopback whose answers a test writes byte by byte. */
export class WireServer {
  readonly exchanges: Exchange[] = [];
  /** Number of connections so far. */
  connections = 0;
  private readonly server = createServer();
  private readonly waiting: (() => void)[] = [];

  private constructor(answer: (exchange: Exchange) => unknown) {
    this.server.on('connection', () => this.connections++);
    this.server.on('request', (request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      request.on('end', () => {
        const body = (text === '' ? {} : JSON.parse(text)) as Json;
        const exchange = {
          index: this.exchanges.length,
          path: request.url ?? '',
          body,
          headers: request.headers,
          response,
          socket: request.socket,
        };
        this.exchanges.push(exchange);
        for (const resolve of this.waiting.splice(0)) resolve();
        answer(exchange);
      });
    });
  }

  static async start(answer: (exchange: Exchange) => unknown, port = 0): Promise<WireServer> {
    const server = new WireServer(answer);
    await new Promise<void>((resolve) => server.server.listen(port, '127.0.0.1', resolve));
    return server;
  }

  get baseURL(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Resolves with the n-th request, counted from 1. */
  async nextExchange(count: number): Promise<Exchange> {
    while (this.exchanges.length < count)
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    return this.exchanges[count - 1] as Exchange;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Answers with JSON. */
export function sendJson(
  { response }: Exchange,
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body));
}

/** Begins a stream. */
export function beginEvents(
  { response }: Exchange,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders();
}

/** One event. */
export function sendEvent({ response }: Exchange, payload: unknown): void {
  response.write(`data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`);
}

/** A chunk whose first choice has a delta. */
export function chunk(delta: Json, finishReason: string | null = null, more: Json = {}): Json {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...more,
  };
}

/** Answers with a whole stream. */
export function sendEvents(exchange: Exchange, payloads: readonly unknown[]): void {
  beginEvents(exchange);
  for (const payload of payloads) sendEvent(exchange, payload);
  exchange.response.end();
}

/** A whole stream with a text. */
export function sendText(exchange: Exchange, text: string): void {
  sendEvents(exchange, [chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), '[DONE]']);
}

/** A completion with a text. */
export function completion(text: string, more: Json = {}): Json {
  return {
    id: 'c1',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    ...more,
  };
}

/** Resolves when a socket is closed, with the milliseconds since `start`. */
export function whenClosed(socket: Socket, start: number): Promise<number> {
  if (socket.destroyed) return Promise.resolve(0);
  return new Promise((resolve) => socket.once('close', () => resolve(performance.now() - start)));
}
