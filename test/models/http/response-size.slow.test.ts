import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { Readable, type Writable } from 'node:stream';
import { expect } from 'chai';
import { MODES } from '../../support/modes.js';
import {
  beginEvents,
  chunk,
  sendText,
  completion,
  sendJson,
  whenClosed,
  WireServer,
  type Exchange,
} from '../../support/wire-server.js';

const MIB = 2 ** 20;
const LIMIT = 8 * MIB;
/** Bytes by which the runtime itself may grow: garbage, code that it compiles, and buffers of the socket. */
const RUNTIME = 64 * MIB;
const SIZE = 100 * MIB;
const PIECE = 'x'.repeat(64 * 1_024);

function* hugeAnswer(isStream: boolean): Iterable<string> {
  const event = `data: ${JSON.stringify(chunk({ content: PIECE }))}\n\n`;
  const piece = isStream ? event : PIECE;
  if (!isStream) yield '{"choices":[{"message":{"content":"';
  for (let sent = 0; sent < SIZE; sent += piece.length) yield piece;
}

function answer(exchange: Exchange): void {
  const { model, stream } = exchange.body;
  if (model === 'small' && stream) return sendText(exchange, 'x');
  if (model === 'small') return sendJson(exchange, completion('x'));
  if (stream) beginEvents(exchange);
  Readable.from(hugeAnswer(Boolean(stream))).pipe(exchange.response);
}

/** A process that asks; it ends when its input does. */
function startProcess(...args: readonly string[]): ChildProcessByStdio<Writable, Readable, null> {
  // a young generation of usual size holds garbage of the start, and counts as growth on a busy machine
  const node = ['--max-semi-space-size=2', '--import', 'tsx'];
  const fixture = [...node, 'test/fixtures/huge-answer.ts', ...args];
  return spawn(process.execPath, fixture, { stdio: ['pipe', 'pipe', 'inherit'] });
}

describe('an answer of 100 MiB', () => {
  for (const mode of MODES)
    it(`[D52] is refused at the limit in a ${mode}, and memory grows by a few times the limit`, async () => {
      const server = await WireServer.start(answer);
      const child = startProcess(mode, server.baseURL, String(LIMIT));
      try {
        const [text] = (await once(child.stdout, 'data')) as [Buffer];

        const report = JSON.parse(text.toString()) as Readonly<Record<string, unknown>>;
        console.log(`      grew by ${(Number(report['growth']) / MIB).toFixed(0)} MiB`);
        expect(report).to.include({ code: 'limit_exceeded', limit: 'response-bytes' });
        expect(report['growth']).to.be.at.most(3 * LIMIT + RUNTIME);
        const { socket } = await server.nextExchange(2);
        await whenClosed(socket, 0); // while the process lives
        expect(socket.bytesWritten).to.be.below(SIZE / 2);
      } finally {
        child.stdin.end();
        await server.close();
      }
    });
});
