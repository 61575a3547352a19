import { setTimeout as delay } from 'node:timers/promises';
import { completion, sendJson, WireServer, type Exchange } from '../wire-server.js';
import type { Json } from '../cassettes.js';

type WireMessage = { readonly role: string; readonly content: string | null };

/** A model that answers each question with a call of `book`, and then with the number of earlier questions. */
export class FleetModelServer {
  /** Number of requests by question and iteration. */
  readonly requests = new Map<string, number>();
  /** Questions whose first requests are not answered. */
  private readonly held = new Set<string>();
  private readonly unanswered = new Map<string, (() => void)[]>();
  private readonly waiting = new Set<() => void>();

  private constructor(
    private readonly latency: number,
    private server: WireServer,
  ) {}

  /** @param latency in milliseconds */
  static async start(latency: number): Promise<FleetModelServer> {
    const model: FleetModelServer = new FleetModelServer(
      latency,
      await WireServer.start((exchange) => model.respond(exchange)),
    );
    return model;
  }

  get baseURL(): string {
    return this.server.baseURL;
  }

  /** Requests beyond one for each question and iteration. */
  get repeated(): number {
    return [...this.requests.values()].reduce((sum, count) => sum + count - 1, 0);
  }

  /** Ends the server with its connections, and starts it again on its port after some milliseconds. */
  async restart(pause: number): Promise<void> {
    const { port } = new URL(this.baseURL);
    await this.close();
    await delay(pause);
    this.server = await WireServer.start((exchange) => this.respond(exchange), Number(port));
  }

  /** Answers no request for the question until it is released. */
  hold(question: string): void {
    this.held.add(question);
  }

  release(question: string): void {
    this.held.delete(question);
    for (const answer of this.unanswered.get(question)?.splice(0) ?? []) answer();
  }

  /** Resolves once the first model call of a question was asked for a number of times. */
  async asked(question: string, times = 1): Promise<void> {
    while ((this.requests.get(`${question}: 0`) ?? 0) < times)
      await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private respond(exchange: Exchange): void {
    const { question, iteration, earlier } = positionOf(exchange.body);
    const key = `${question}: ${iteration}`;
    this.requests.set(key, (this.requests.get(key) ?? 0) + 1);
    const body = iteration === 0 ? callOf(question) : completion(`${question}, after ${earlier}`);
    const answer = (): void => sendJson(exchange, body);
    if (this.held.has(question)) {
      this.unanswered.set(question, [...(this.unanswered.get(question) ?? []), answer]);
    } else {
      setTimeout(answer, this.latency);
    }
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}

function positionOf(body: Json): {
  readonly question: string;
  readonly iteration: number;
  readonly earlier: number;
} {
  const messages = body['messages'] as readonly WireMessage[];
  const users = messages.filter(({ role }) => role === 'user');
  const last = users.at(-1) as WireMessage;
  const after = messages.slice(messages.lastIndexOf(last) + 1);
  const iteration = after.filter(({ role }) => role === 'tool').length;
  return { question: last.content ?? '', iteration, earlier: users.length - 1 };
}

function callOf(question: string): Json {
  const [, at, conversation] = /^question (\d+) of (.*)$/.exec(question) ?? [];
  const name = 'book';
  const call = {
    id: `call-${conversation}-${at}`,
    type: 'function',
    function: { name, arguments: JSON.stringify({ what: question }) },
  };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  return completion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
}
