import { callsOf } from '../../src/core/chat/message.js';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { textOf, type Message } from '../../src/index.js';
import type { StoredMessage } from '../../src/stores/chat-memory/index.js';
import { bundleWorker } from './bundle-worker.js';
import { openStore } from './memory-stores.js';
import { hasServer, POSTGRES, REDIS } from './servers.js';

/** Size of the test. */
export interface SharedMemoryScale {
  /** Number of processes that write concurrently. */
  readonly writers: number;
  /** Number of rounds of each writer. */
  readonly rounds: number;
  /** Number of concurrent turns of each round. */
  readonly turns: number;
  /** Number of processes that are killed; even. */
  readonly kills: number;
}

/** Notifies of the turns that a process acknowledges; resolves when the process has ended. */
function watchTurns(
  child: ChildProcess,
  onTurn: (name: string) => void,
): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (text + piece).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) onTurn(line);
  });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal })));
}

/** Expected messages of a turn in the log. */
function turnOf(name: string): readonly Message[] {
  const call = { id: `call-${name}`, name: 'look', arguments: JSON.stringify({ name }) };
  return [
    { role: 'user', content: name },
    { role: 'assistant', content: null, toolCalls: [call] },
    { role: 'tool', toolCallId: call.id, toolName: 'look', content: `result of ${name}` },
    { role: 'assistant', content: `answer to ${name}` },
  ];
}

/** Names of the turns of a log, in order; checks that every turn is complete and contiguous. */
function checkTurns(log: readonly StoredMessage[]): readonly string[] {
  const names: string[] = [];
  for (let at = 0; at < log.length; at += 4) {
    const turn = log.slice(at, at + 4);
    const [first] = turn;
    const name =
      first?.message.role === 'user' ? textOf(first.message.content) : `no user message at ${at}`;
    expect(turn.map(({ message }) => contentOf(message))).to.deep.equal(
      turnOf(name).map(contentOf),
    );
    expect(new Set(turn.map(({ turnId }) => turnId)).size, 'turn ids').to.equal(1);
    expect(turn.map(({ version }) => version)).to.deep.equal(
      [1, 2, 3, 4].map((offset) => at + offset),
    );
    names.push(name);
  }
  expect(new Set(names).size, 'duplicate turns').to.equal(names.length);
  return names;
}

function contentOf(message: Message): unknown {
  return message.role === 'assistant'
    ? [message.content ?? '', callsOf(message).map(({ id, arguments: text }) => [id, text])]
    : message;
}

/** Tests that no turn is lost, duplicated or mixed when processes share a store and are killed. */
export function describeSharedMemory(scale: SharedMemoryScale): void {
  describe('a chat memory shared by processes', function () {
    this.timeout(240_000);
    this.slow(60_000);

    const folder = mkdtempSync(join(tmpdir(), 'chat-memory-'));
    const prefix = `t${randomUUID().replaceAll('-', '').slice(0, 16)}`;
    let worker: string;
    const startWorker = (...args: readonly string[]): ChildProcess =>
      spawn(process.execPath, [worker, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

    before(async () => {
      worker = await bundleWorker('memory-worker');
    });
    after(() => {
      rmSync(worker);
      rmSync(folder, { recursive: true });
    });

    for (const kind of ['sqlite', 'postgres', 'redis'] as const)
      describe(kind, () => {
        const locationOf = (name: string): string =>
          kind === 'sqlite' ? join(folder, `${name}.db`) : `${prefix}_${name}`;
        let isAvailable = kind === 'sqlite';

        before(async function () {
          isAvailable ||= await hasServer(this, kind === 'postgres' ? POSTGRES : REDIS);
        });
        after(async () => {
          if (kind === 'postgres' && isAvailable)
            await dropTables(['history', 'kill'].map(locationOf));
        });

        const { writers, rounds, turns, kills } = scale;
        it(`[F64] keeps ${turns} concurrent turns x ${writers} processes x ${rounds} rounds complete and in order`, async () => {
          const acknowledged: string[] = [];
          const args = [kind, locationOf('history'), 'shared'];
          const exits = await Promise.all(
            Array.from({ length: writers }, (_, at) =>
              watchTurns(startWorker(...args, `${at}`, `${rounds}`, `${turns}`), (name) =>
                acknowledged.push(name),
              ),
            ),
          );
          expect(exits).to.deep.equal(exits.map(() => ({ code: 0, signal: null })));

          const names = await readTurns(kind, locationOf('history'));
          expect(names.toSorted()).to.deep.equal(acknowledged.toSorted());
          expect(names).to.have.length(writers * rounds * turns);
          for (let at = 0; at < writers; at++) {
            const order = names
              .filter((name) => name.startsWith(`${at}.`))
              .map((name) => Number(name.split('.')[1]));
            expect(order, `order of writer ${at}`).to.deep.equal(order.toSorted((a, b) => a - b));
          }
        });

        it(`[F61] [F64] keeps every acknowledged turn, and no partial turn, when ${kills} processes are killed`, async () => {
          const acknowledged: string[] = [];
          const runAndKill = async (kill: number): Promise<void> => {
            const child = startWorker(kind, locationOf('kill'), 'shared', `${kill}`, '100000', '4');
            let count = 0;
            const limit = 1 + (kill % 10);
            const { signal } = await watchTurns(child, (name) => {
              acknowledged.push(name);
              // right after an answer, when the next turns are about to be written, or a few ms after it
              if (++count === limit) setTimeout(() => child.kill('SIGKILL'), kill % 4);
            });
            expect(signal).to.equal('SIGKILL');
          };
          for (let kill = 0; kill < kills; kill += 2)
            await Promise.all([runAndKill(kill), runAndKill(kill + 1)]);

          const names = new Set(await readTurns(kind, locationOf('kill')));
          expect(acknowledged.filter((name) => !names.has(name))).to.deep.equal([]);
        });
      });
  });
}

/** Reads and checks the turns of the shared conversation, and deletes it. */
async function readTurns(kind: string, location: string): Promise<readonly string[]> {
  const { repository, close } = await openStore(kind, location);
  const { messages } = await repository.read('shared');
  const names = checkTurns(messages);
  await repository.delete('shared');
  await close();
  return names;
}

async function dropTables(prefixes: readonly string[]): Promise<void> {
  const client = new pg.Client(POSTGRES.connection);
  await client.connect();
  for (const prefix of prefixes)
    await client.query(
      `DROP TABLE IF EXISTS ${prefix}_conversation, ${prefix}_message, ${prefix}_write`,
    );
  await client.end();
}
