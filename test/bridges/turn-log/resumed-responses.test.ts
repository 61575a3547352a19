import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { expect } from 'chai';
import { createParser } from 'eventsource-parser';
import { toNodeHandler, toResponse, type StreamFormat } from '../../../src/bridges/http/index.js';
import { InMemoryTurnLog, TurnStreams } from '../../../src/bridges/turn-log/index.js';
import { toUIMessageStreamResponse, uiMessageStream } from '../../../src/bridges/ui/index.js';
import { ChatClient, defineTool, type ChatEvent } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { Random } from '../../support/random.js';

const find = defineTool({ name: 'find', effect: 'read', execute: () => 'one row' });

function turn(delta = 1) {
  const script = [
    {
      text: 'Let me look it up. ',
      toolCalls: [
        { id: 'a', name: 'find' },
        { id: 'b', name: 'find' },
      ],
      delay: delta,
    },
    { text: 'It is warm and dry in Rome, and 10 degrees colder in Oslo.', delay: delta },
  ];
  return ChatClient.builder(new ScriptedChatModel(script))
    .defaultTools(find)
    .build()
    .prompt('Q')
    .stream();
}

/** Reads like an `EventSource`: connects again with the id of the last event, until status 204. */
class EventSourceLike {
  readonly data: string[] = [];
  connections = 0;
  private lastEventId: string | undefined;

  constructor(private readonly url: string) {}

  /** @param bytesOf number of bytes after which the connection is cut */
  async readToEnd(bytesOf: () => number): Promise<void> {
    for (;;) {
      const closing = new AbortController();
      const headers = this.lastEventId === undefined ? {} : { 'last-event-id': this.lastEventId };
      const response = await fetch(this.url, { headers, signal: closing.signal });
      this.connections++;
      if (response.status === 204) return;
      expect(response.status).to.equal(200);
      const parser = createParser({
        onEvent: ({ data, id }) => {
          this.data.push(data);
          this.lastEventId = id ?? this.lastEventId;
        },
      });
      const decoder = new TextDecoder();
      let left = bytesOf();
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        parser.feed(decoder.decode(chunk.subarray(0, left), { stream: true }));
        left -= chunk.length;
        if (left <= 0) break;
      }
      closing.abort();
      await delay(2);
    }
  }
}

async function withServer(
  handler: (request: Request) => Promise<Response>,
  work: (origin: string) => Promise<void>,
): Promise<void> {
  const server = createServer(
    (request, response) => void toNodeHandler(handler)(request, response),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const FORMATS: Readonly<Record<string, 'sse' | StreamFormat>> = {
  sse: 'sse',
  'the UI message stream': uiMessageStream({ messageId: 'm' }),
};

describe('a plain EventSource', () => {
  for (const [name, format] of Object.entries(FORMATS))
    it(`loses and doubles no event of ${name} when its connection is cut at random`, async function () {
      this.timeout(60_000);
      const log = new InMemoryTurnLog();
      const streams = [0, 1].map(() => new TurnStreams({ log, writeInterval: 5 }));
      let connections = 0;
      const handler = async (request: Request): Promise<Response> => {
        const key = new URL(request.url).pathname;
        const lastEventId = request.headers.get('last-event-id');
        const process = streams[connections++ % 2] as TurnStreams;
        const events = await process.resume(key, { lastEventId });
        if (!events) return new Response(null, { status: 204 });
        return toResponse(events, { format, signal: request.signal });
      };
      await withServer(handler, async (origin) => {
        const random = new Random(7);
        const readers: EventSourceLike[] = [];
        for (let round = 0; round < 20; round++) {
          const key = `/turn-${round}`;
          await (streams[0] as TurnStreams).start(key, turn(round % 3));
          const [cut, whole] = [
            new EventSourceLike(origin + key),
            new EventSourceLike(origin + key),
          ];
          await Promise.all([
            cut.readToEnd(() => 1 + random.below(random.pick([40, 300, 3_000]))),
            whole.readToEnd(() => Infinity),
          ]);

          expect(cut.data).to.deep.equal(whole.data);
          readers.push(cut);
        }
        const cuts = readers.reduce((sum, { connections: count }) => sum + count, 0);
        console.log(`      ${cuts} connections for 20 turns of ${readers[0]?.data.length} frames`);
        expect(cuts).to.be.above(100);
      });
    });
});

describe('useChat of the AI SDK', () => {
  const log = new InMemoryTurnLog();
  const streams = new TurnStreams({ log });
  /** The routes of a page: `POST /api/chat` and `GET /api/chat/:id/stream`. */
  const route = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(new URL(input as string, 'http://page'), init);
    if (request.method === 'POST') {
      const { id } = (await request.json()) as { readonly id: string };
      const events = await streams.start(id, turn(3), { owner: 'anna' });
      return toUIMessageStreamResponse(events, { messageId: 'answer', signal: request.signal });
    }
    const id = /\/api\/chat\/(.+)\/stream$/.exec(request.url)?.[1] ?? '';
    const events = await streams.resume(id, { owner: 'anna' });
    if (!events) return new Response(null, { status: 204 });
    return toUIMessageStreamResponse(events, { messageId: 'answer', signal: request.signal });
  };
  const transport = new DefaultChatTransport<UIMessage>({ fetch: route as typeof fetch });

  async function messageOf(stream: Awaited<ReturnType<typeof transport.reconnectToStream>>) {
    let last: UIMessage | undefined;
    for await (const message of readUIMessageStream({
      stream: stream as NonNullable<typeof stream>,
    }))
      last = message;
    return last;
  }

  it('gets the whole message when it connects again in the middle of an answer', async () => {
    const leaving = new AbortController();
    const first = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: 'c1',
      messageId: undefined,
      messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'Q' }] }],
      abortSignal: leaving.signal,
    });
    const reader = first.getReader();
    for (let chunk = 0; chunk < 6; chunk++) await reader.read();
    leaving.abort(); // a reload of the page

    const message = await messageOf(await transport.reconnectToStream({ chatId: 'c1' }));
    const again = await messageOf(await transport.reconnectToStream({ chatId: 'c1' }));
    const texts = message?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));

    expect(texts).to.deep.equal([
      'Let me look it up. ',
      'It is warm and dry in Rome, and 10 degrees colder in Oslo.',
    ]);
    expect(message?.id).to.equal('answer');
    expect(
      message?.parts.filter(({ type }) => type === 'dynamic-tool' || type === 'tool-find'),
    ).to.have.length(2);
    expect(again).to.deep.equal(message);
  });

  it('gets nothing where there is no run', async () => {
    expect(await transport.reconnectToStream({ chatId: 'none' })).to.equal(null);
  });
});

describe('a response with the events of a log', () => {
  it('sends the events and the heartbeats of a run that is under way at once', async () => {
    const streams = new TurnStreams({ log: new InMemoryTurnLog(), writeInterval: 0 });
    let wake = (): void => undefined;
    async function* run(): AsyncGenerator<ChatEvent> {
      yield { type: 'text-delta', text: 'a' };
      await new Promise<void>((resolve) => (wake = resolve));
    }
    const started = await streams.start('key', run());
    const response = await toResponse(started, { format: 'sse', heartbeat: 20 });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);

    expect(await read()).to.match(/^id: \d+-1\ndata: \{"type":"text-delta","text":"a"\}\n\n$/);
    expect(await read()).to.equal(':\n\n');
    wake();
    await started.ended;
    let rest = '';
    for (let next = await reader.read(); !next.done; next = await reader.read())
      rest += new TextDecoder().decode(next.value);
    expect(rest.replaceAll(':\n\n', '')).to.equal('');
  });
});
