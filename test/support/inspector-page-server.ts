import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PAGE_FILES } from '../../src/bridges/inspector/page-files.js';
import type { AdvisorState, InspectedTurn } from '../../src/bridges/inspector/inspected-turn.js';
import type { InspectorEvent } from '../../src/bridges/inspector/page-messages.js';
import { CHAIN } from './inspected-chain.js';
import { STATES, summaryOf } from './inspector-turns.js';

/** The policy under which the page must work. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:";

/** A request of the page that changes something. */
export interface PostedByPage {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** The page of the inspector before turns that a test writes, over HTTP. */
export class InspectorPageServer {
  readonly turns = new Map<string, InspectedTurn>();
  readonly states = new Map<string, readonly AdvisorState[]>();
  readonly posted: PostedByPage[] = [];
  /** Answers of a test to what the page posts, by `METHOD path`. @default { id: 'trip' } */
  readonly answers = new Map<string, { readonly status: number; readonly body: unknown }>();
  canTry = true;
  /** Refuses the API, as a process does that was started with another token. */
  isClosed = false;
  private readonly streams = new Set<ServerResponse>();

  private constructor(private readonly server: Server) {}

  static async start(...turns: readonly InspectedTurn[]): Promise<InspectorPageServer> {
    const server = createServer((request, response) => void own.answer(request, response));
    const own = new InspectorPageServer(server);
    for (const turn of turns) own.turns.set(turn.id, turn);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return own;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Keeps a turn, and sends its row to the pages. */
  put(turn: InspectedTurn): void {
    this.turns.set(turn.id, turn);
    this.send({ type: 'turn', turn: summaryOf(turn), kept: this.kept() });
  }

  /** Removes turns, here and on the pages. */
  remove(...ids: readonly string[]): void {
    for (const id of ids) this.turns.delete(id);
    this.send({ type: 'removed', ids, kept: this.kept() });
  }

  send(event: InspectorEvent): void {
    for (const stream of this.streams) stream.write(`data: ${JSON.stringify(event)}\n\n`);
  }

  /** Breaks the connections of the pages, which connect again. */
  disconnect(): void {
    for (const stream of this.streams) stream.destroy();
  }

  async stop(): Promise<void> {
    this.disconnect();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private kept() {
    return { turns: this.turns.size, maxTurns: 500, bytes: 1_250_000, maxBytes: 50_000_000 };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.origin);
    const file = FILES[pathname];
    if (file) return sendText(response, 200, ...file);
    const path = pathname.replace(/^\/api\//, '');
    if (this.isClosed) return sendJson(response, 401, { error: { message: 'no access' } });
    if (request.method !== 'GET') return this.take(request, response, path);
    if (path === 'events') return this.open(response);
    const [, encoded = '', part] = path.split('/');
    const id = decodeURIComponent(encoded);
    const turn = this.turns.get(id);
    if (!turn) return sendJson(response, 404, { error: { message: 'there is no such turn' } });
    if (part === 'states') return sendJson(response, 200, this.states.get(id) ?? STATES);
    if (part === 'export')
      return sendJson(response, 200, {
        format: 'advisor-chain/turns',
        version: 1,
        turns: [turn],
        states: { [id]: this.states.get(id) ?? STATES },
      });
    return sendJson(response, 200, turn);
  }

  private async take(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<void> {
    const texts: string[] = [];
    for await (const chunk of request) texts.push(String(chunk));
    const text = texts.join('');
    const method = request.method ?? '';
    this.posted.push({ method, path, body: text === '' ? undefined : JSON.parse(text) });
    const answer = this.answers.get(`${method} ${path}`);
    sendJson(response, answer?.status ?? 200, answer?.body ?? { id: 'trip' });
  }

  private open(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const hello: InspectorEvent = {
      type: 'hello',
      version: '0.1.0',
      canTry: this.canTry,
      chain: CHAIN,
      turns: [...this.turns.values()].map(summaryOf),
      kept: this.kept(),
    };
    response.write(`data: ${JSON.stringify(hello)}\n\n`);
    this.streams.add(response);
    response.on('close', () => this.streams.delete(response));
  }
}

const FILES: Readonly<Record<string, readonly [string, string]>> = {
  '/': [PAGE_FILES.html, 'text/html; charset=utf-8'],
  '/page.js': [PAGE_FILES.js, 'text/javascript; charset=utf-8'],
  '/page.css': [PAGE_FILES.css, 'text/css; charset=utf-8'],
};

function sendText(response: ServerResponse, status: number, text: string, type: string): void {
  response.writeHead(status, { 'content-type': type, 'content-security-policy': POLICY });
  response.end(text);
}

const sendJson = (response: ServerResponse, status: number, value: unknown): void =>
  sendText(response, status, JSON.stringify(value), 'application/json');
