import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Prompt } from '../chat/prompt.js';
import { AdvisorChainError } from '../errors.js';
import { OfflineChatModel } from './offline-chat-model.js';
import { chunk, objectOf, promptOf, toChunks, toCompletion, toError, type Wire, type WireAnswer } from './offline-wire.js';

/** Options of {@link serveOffline}. */
export interface OfflineServerOptions {
  /** 0 for any free one. @default 0 */
  readonly port?: number;
  /** Milliseconds before each piece of a stream and before a whole answer, 0 or more. @default 0 */
  readonly delay?: number;
}

/** A request that an {@link OfflineServer} got. */
export interface OfflineRequest {
  readonly method: string;
  readonly path: string;
  /** The parsed body; undefined if there was none, or it was not JSON. */
  readonly body: unknown;
}

/** A server under way. */
export interface OfflineServer {
  /** For clients: `http://127.0.0.1:<port>/v1`. */
  readonly baseURL: string;
  readonly port: number;
  /** All requests so far, in order. */
  readonly requests: readonly OfflineRequest[];
  /** Ends the server and all connections. */
  close(): Promise<void>;
}

/** Serves the offline model on the loopback address, as an OpenAI-compatible API (`/v1/chat/completions`, `/v1/models`). */
export async function serveOffline({ port = 0, delay = 0 }: OfflineServerOptions = {}): Promise<OfflineServer> {
  const requests: OfflineRequest[] = [];
  const api = new OfflineApi(new OfflineChatModel({ delay }), requests);
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
  return { baseURL: `http://127.0.0.1:${actual}/v1`, port: actual, requests, close };
}

class OfflineApi {
  constructor(
    private readonly model: OfflineChatModel,
    private readonly requests: OfflineRequest[],
  ) {}

  /** Never rejects: whatever happens is answered. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const path = url.split('?', 1)[0] ?? url;
    try {
      const text = await readBody(request);
      const body = parse(text);
      this.requests.push({ method, path, body });
      if (method === 'GET' && path === '/v1/models') return send(response, 200, this.models());
      if (method !== 'POST' || path !== '/v1/chat/completions')
        return send(response, 404, toError(`Unknown request: ${method} ${path}`, 'unknown_url'));
      if (body === undefined) return send(response, 400, toError('The body is not valid JSON.', 'invalid_json'));
      await this.complete(objectOf(body), promptOf(body), response);
    } catch (error) {
      if (!AdvisorChainError.isInstance(error)) response.destroy();
      else if (!response.headersSent) send(response, 400, toError(error.message, error.code));
    }
  }

  private models(): Wire {
    return { object: 'list', data: [{ id: 'offline', object: 'model', created: 0, owned_by: 'advisor-chain' }] };
  }

  private async complete(body: Wire, prompt: Prompt, response: ServerResponse): Promise<void> {
    const answer = { id: `chatcmpl-${this.requests.length}`, model: prompt.options.model ?? 'offline' };
    const aborted = new AbortController();
    response.once('close', () => aborted.abort());
    if (body['stream'] === true) return this.stream(prompt, answer, objectOf(body['stream_options'])['include_usage'] === true, response);
    const whole = await this.model.call(prompt, { signal: aborted.signal });
    send(response, 200, toCompletion(whole, answer));
  }

  private stream(prompt: Prompt, answer: WireAnswer, withUsage: boolean, response: ServerResponse): void {
    const write = (data: unknown): void => void response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    write(chunk(answer, { role: 'assistant', content: '' }));
    const subscription = this.model.stream(prompt).subscribe({
      next: (event) => toChunks(event, answer, withUsage).forEach(write),
      error: () => response.destroy(),
      complete: () => {
        write('[DONE]');
        response.end();
      },
    });
    response.once('close', () => subscription.unsubscribe());
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  request.setEncoding('utf8');
  let text = '';
  for await (const piece of request) text += piece as string;
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // told to the client where a body is needed
  }
}

function send(response: ServerResponse, status: number, body: Wire): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
