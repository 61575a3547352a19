import { Inspector } from '../../src/bridges/inspector/inspector.js';
import {
  inspectorHandler,
  type InspectorHandler,
} from '../../src/bridges/inspector/inspector-handler.js';
import type { InspectorHandlerOptions } from '../../src/bridges/inspector/handler-options.js';
import type { InspectedTurn } from '../../src/bridges/inspector/inspected-turn.js';
import type { InspectorEvent, TurnToTry } from '../../src/bridges/inspector/page-messages.js';
import type { Decision, ChatClient } from '../../src/index.js';
import { settled } from './promises.js';

export const ORIGIN = 'http://127.0.0.1:4000';

/** An answer of a handler, with its body. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined for another type. */
  readonly json: unknown;
}

/** The handler of an inspector, called as a page or a program does. */
export class InspectedClient {
  readonly handler: InspectorHandler;

  constructor(
    client?: ChatClient,
    options: InspectorHandlerOptions = {},
    readonly inspector = new Inspector(),
  ) {
    this.handler = inspectorHandler(inspector, { client, ...options });
  }

  /** Sends a request without a token. */
  async fetch(path: string, init: RequestInit = {}): Promise<Answered> {
    const response = await this.handler(new Request(new URL(path, ORIGIN), init));
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  }

  get(path: string, init: RequestInit = {}): Promise<Answered> {
    return this.fetch(path, { ...init, headers: { 'x-inspector-token': this.handler.token } });
  }

  post(path: string, body: unknown): Promise<Answered> {
    return this.fetch(path, {
      method: 'POST',
      headers: { 'x-inspector-token': this.handler.token, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** Tries a turn, and resolves with it when it has ended. */
  async try(turn: TurnToTry): Promise<InspectedTurn> {
    return this.ended(await this.post('/api/try', turn));
  }

  async decide(id: string, decisions: Readonly<Record<string, Decision>>): Promise<InspectedTurn> {
    return this.ended(await this.post(`/api/turns/${id}/decisions`, decisions));
  }

  async turn(id: string): Promise<InspectedTurn> {
    return (await this.get(`/api/turns/${id}`)).json as InspectedTurn;
  }

  private async ended({ status, json, text }: Answered): Promise<InspectedTurn> {
    if (status !== 200) throw new Error(`${status}: ${text}`);
    const { id } = json as { readonly id: string };
    while (this.inspector.turn(id)?.outcome === 'running') await settled();
    return this.turn(id);
  }

  /** Reads events as they come. */
  async events(): Promise<EventReader> {
    const own = new AbortController();
    const request = new Request(`${ORIGIN}/api/events`, {
      headers: { 'x-inspector-token': this.handler.token },
      signal: own.signal,
    });
    const response = await this.handler(request);
    return new EventReader(response, own);
  }
}

/** A reader of server-sent events. */
export class EventReader {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(
    readonly response: Response,
    private readonly own: AbortController,
  ) {
    this.reader = (response.body as ReadableStream<Uint8Array>).getReader();
  }

  /** The next frames as text; undefined at the end. */
  async text(): Promise<string | undefined> {
    const { value, done } = await this.reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  }

  /** The events of the next frames; none for a comment. */
  async next(): Promise<readonly InspectorEvent[]> {
    const text = (await this.text()) ?? '';
    return text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: '))
      .map((frame) => JSON.parse(frame.slice('data: '.length)) as InspectorEvent);
  }

  /** Leaves as a page does that is closed. */
  leave(): void {
    this.own.abort();
  }

  cancel(): Promise<void> {
    return this.reader.cancel();
  }
}
