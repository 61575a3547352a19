import type { ChatEvent, ChatModel, ChatResponse } from '../../src/index.js';
import { Prompt } from '../../src/index.js';
import { beginEvents, type Exchange } from './wire-server.js';

/** Answers with lines of JSON. */
export function sendLines({ response }: Exchange, lines: readonly unknown[]): void {
  response
    .writeHead(200, { 'content-type': 'application/x-ndjson' })
    .end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Answers with server-sent events that are named by their type. */
export function sendTypedEvents(
  exchange: Exchange,
  events: readonly { readonly type?: unknown }[],
): void {
  beginEvents(exchange);
  for (const event of events)
    exchange.response.write(`event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`);
  exchange.response.end();
}

/** The answer to a stream with its events. */
export interface Streamed {
  readonly response: ChatResponse;
  readonly events: readonly ChatEvent[];
  /** The joined deltas. */
  readonly text: string;
  readonly reasoning: string;
}

/** Streams to the end. */
export function streamFrom(model: ChatModel, prompt: Prompt | string = 'hi'): Promise<Streamed> {
  return new Promise((resolve, reject) => {
    const events: ChatEvent[] = [];
    const joined = (type: 'text-delta' | 'reasoning-delta'): string =>
      events.map((event) => (event.type === type ? event.text : '')).join('');
    model.stream(typeof prompt === 'string' ? new Prompt(prompt) : prompt).subscribe({
      next: (event) => events.push(event),
      error: reject,
      complete: () => {
        const last = events.at(-1);
        if (last?.type === 'response')
          resolve({
            response: last.response,
            events,
            text: joined('text-delta'),
            reasoning: joined('reasoning-delta'),
          });
        else reject(new Error('the stream ended without a response'));
      },
    });
  });
}

/** The error that a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a rejection');
}
