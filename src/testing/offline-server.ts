import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import type { Prompt } from '../core/chat/prompt.js';
import { AdvisorChainError } from '../core/errors/errors.js';
import { checkOptions, numberBetween, WAIT } from '../core/internal/options.js';
import { OfflineChatModel } from './offline-chat-model.js';
import { objectOf, promptOf, toChunk, toChunks, toCompletion, type Wire } from './offline-wire.js';

const MODELS = {
  object: 'list',
  data: [{ id: 'offline', object: 'model', created: 0, owned_by: 'advisor-chain' }],
};

/** Options of {@link serveOffline}. */
export interface OfflineServerOptions {
  /** 0 selects a free port. @default 0 */
  readonly port?: number;
  /** Milliseconds before each event of a stream and before a response, >= 0. @default 0 */
  readonly delay?: number;
}

/** A request to an {@link OfflineServer}. */
export interface OfflineRequest {
  readonly method: string;
  readonly path: string;
  /** The parsed body; undefined without one or if it is not JSON. */
  readonly body: unknown;
}

/** A running server. */
export interface OfflineServer {
  /** `http://127.0.0.1:<port>/v1` */
  readonly baseURL: string;
  readonly port: number;
  /** All requests so far, in order. */
  readonly requests: readonly OfflineRequest[];
  /** Closes the server and all connections. */
  close(): Promise<void>;
}

/**
 * Serves an {@link OfflineChatModel} on the loopback address as an OpenAI-compatible API:
 * `/v1/chat/completions`, `/v1/models`.
 */
export async function serveOffline(options: OfflineServerOptions = {}): Promise<OfflineServer> {
  checkOptions('serveOffline', options, { port: numberBetween(0, 65_535), delay: WAIT });
  const { port = 0, delay = 0 } = options;
  const api = new OfflineApi(new OfflineChatModel({ delay }));
  const server = createServer((request, response) => void api.handle(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { requests } = api;
  return { baseURL: `http://127.0.0.1:${actual}/v1`, port: actual, requests, close };
}

class OfflineApi {
  readonly requests: OfflineRequest[] = [];

  constructor(private readonly model: OfflineChatModel) {}

  /** Answers every request; never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const path = url.replace(/\?.*/s, '');
    const reject = (status: number, message: string, code: string): void => {
      const error = { message, type: 'invalid_request_error', param: null, code };
      send(response, status, { error });
    };
    try {
      const body = parse(await readText(request));
      this.requests.push({ method, path, body });
      if (method === 'GET' && path === '/v1/models') return send(response, 200, MODELS);
      if (method !== 'POST' || path !== '/v1/chat/completions')
        return reject(404, `Unknown request: ${method} ${path}`, 'unknown_url');
      await this.answer(promptOf(body), objectOf(body), response);
    } catch (error) {
      if (!AdvisorChainError.isInstance(error)) response.destroy();
      else if (!response.headersSent) reject(400, error.message, error.code);
    }
  }

  private async answer(prompt: Prompt, body: Wire, response: ServerResponse): Promise<void> {
    const { model = 'offline' } = prompt.options;
    // a constant in place of the clock, since the same request gets the same answer
    const head = { id: `chatcmpl-${this.requests.length}`, created: 0, model };
    if (body['stream'] === true) {
      const { include_usage: withUsage } = objectOf(body['stream_options']);
      return this.stream(prompt, head, withUsage === true, response);
    }
    const aborted = new AbortController();
    response.once('close', () => aborted.abort());
    const whole = await this.model.call(prompt, { signal: aborted.signal });
    send(response, 200, { ...head, ...toCompletion(whole) });
  }

  private stream(prompt: Prompt, head: Wire, withUsage: boolean, response: ServerResponse): void {
    const write = (chunk: Wire): void =>
      void response.write(`data: ${JSON.stringify({ ...head, ...chunk })}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    write(toChunk({ role: 'assistant', content: '' }));
    const subscription = this.model.stream(prompt).subscribe({
      next: (event) => toChunks(event, withUsage).forEach(write),
      error: () => response.destroy(),
      complete: () => response.end('data: [DONE]\n\n'),
    });
    response.once('close', () => subscription.unsubscribe());
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // an error only for requests that need a body
  }
}

function send(response: ServerResponse, status: number, body: Wire): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
