import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { Inspector } from '../../../src/bridges/inspector/index.js';
import type { InspectorEvent } from '../../../src/bridges/inspector/page-messages.js';
import { startInspector } from '../../../src/cli/start-inspector.js';
import { ChatClient, defineTool } from '../../../src/index.js';
import { ScriptedChatModel } from '../../../src/testing/index.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { resourcesLeftBy } from '../../support/held-resources.js';
import { settle } from '../../support/promises.js';
import { withoutVariable } from '../../support/without-variable.js';

const TURNS = 1_000;
const CALLS = 24;
const READERS = 4;
const MAX_BYTES = 5_000_000;

/** Two iterations with 24 calls each, and an answer: a timeline of more than 50 entries. */
function busyClient(inspector: Inspector): ChatClient {
  const tools = [0, 1].map((at) =>
    defineTool({ name: `tool${at}`, execute: (input) => ({ found: JSON.stringify(input) }) }),
  );
  const model: ScriptedChatModel = new ScriptedChatModel(({ messages }) => {
    model.prompts.length = 0;
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (results >= 2 * CALLS) return 'An answer.';
    const toolCalls = Array.from({ length: CALLS }, (_, at) => ({
      name: `tool${at % 2}`,
      arguments: { at: results + at },
    }));
    return { toolCalls };
  });
  return ChatClient.builder(model).defaultTools(tools).defaultAdvisors(inspector).build();
}

/** A page that reads events until it is closed. */
class Reader {
  readonly events: InspectorEvent[] = [];
  bytes = 0;
  private text = '';

  private constructor(private readonly response: IncomingMessage) {
    response.setEncoding('utf8').on('data', (text: string) => this.read(text));
    response.on('error', () => undefined);
  }

  static async open(origin: string, token: string): Promise<Reader> {
    return new Reader(await request(`${origin}/api/events`, token));
  }

  close(): void {
    this.response.destroy();
  }

  private read(text: string): void {
    this.bytes += text.length;
    const frames = (this.text + text).split('\n\n');
    this.text = frames.pop() ?? '';
    for (const frame of frames)
      if (frame.startsWith('data: ')) this.events.push(JSON.parse(frame.slice(6)) as InspectorEvent); // prettier-ignore
  }
}

/** Without the pool of `fetch`, which has timers. */
function request(url: string, token: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { headers: { 'x-inspector-token': token }, agent: false };
    get(url, options, resolve).on('error', reject);
  });
}

async function json(url: string, token: string): Promise<unknown> {
  let text = '';
  for await (const part of (await request(url, token)).setEncoding('utf8')) text += String(part);
  return JSON.parse(text) as unknown;
}

/** A page that asks for events and does not read them. */
function stoppedReader(port: number, token: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.write(`GET /api/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-inspector-token: ${token}\r\n\r\n`); // prettier-ignore
      socket.pause();
      resolve(socket);
    });
    socket.on('error', () => undefined);
  });
}

function heap(): number {
  for (let round = 0; round < 3; round++) collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('an inspector under load', () => {
  withoutVariable('NODE_ENV');

  it(`keeps its bound over ${TURNS} turns of more than 50 events while pages read, and leaves no timer`, async function () {
    this.timeout(600_000);
    await settle();
    const figures: string[] = [];
    const left = await resourcesLeftBy(async () => {
      const inspector = new Inspector({ maxTurns: 100, maxBytes: MAX_BYTES });
      const client = busyClient(inspector);
      const server = await startInspector(client, { inspector });
      const { origin, port, searchParams } = new URL(server.url);
      const token = searchParams.get('token') ?? '';
      const readers = await Promise.all(Array.from({ length: READERS }, () => Reader.open(origin, token))); // prettier-ignore
      const stopped = [await stoppedReader(Number(port), token), await stoppedReader(Number(port), token)]; // prettier-ignore
      const run = async (from: number, to: number): Promise<number> => {
        for (let at = from; at < to; at++)
          if (at % 2 === 0) await client.prompt(`Question ${at}`).call().content();
          else for await (const _ of client.prompt(`Question ${at}`).stream());
        await new Promise((resolve) => setTimeout(resolve, 250)); // the last report
        for (const { events } of readers) events.splice(0, Math.max(0, events.length - 50));
        return heap();
      };

      const early = await run(0, TURNS / 4);
      const end = await run(TURNS / 4, TURNS);
      const [turn] = inspector.turns().slice(-1);
      const began = performance.now();
      const answer = await json(`${origin}/api/turns/${turn?.id}`, token);
      const { timeline } = answer as { readonly timeline: readonly unknown[] };
      const took = performance.now() - began;
      const { bytes, turns } = inspector.kept();
      figures.push(`${turns} turns, ${bytes} bytes kept, heap ${early} → ${end}, a turn in ${took.toFixed(1)} ms, ${readers[0]?.bytes} bytes of events`); // prettier-ignore

      expect(timeline.length).to.be.at.least(50);
      expect(bytes).to.be.at.most(MAX_BYTES);
      expect(turns).to.be.at.most(100);
      expect(end - early, figures.join()).to.be.below(MAX_BYTES);
      for (const { events } of readers) {
        const last = events.findLast(({ type }) => type === 'turn');
        expect(last).to.have.nested.property('turn.id', turn?.id);
        expect(last).to.have.nested.property('turn.outcome', 'answered');
      }
      for (const socket of stopped) socket.destroy();
      for (const reader of readers) reader.close();
      await server.close();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }, /setTimeout[^\n]*\n[^\n]*\/src\//); // not the timers of node:http
    console.log(`      ${figures.join()}`);
    expect(left).to.deep.equal([]);
  });
});
