import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';
import pg from 'pg';
import { textOf, type Message, type StoredMessage } from '../../src/index.js';
import { hasServer, POSTGRES, REDIS } from '../memory-repositories/servers.js';
import { openStore } from './memory-stores.js';

const WRITERS = 3;
const ROUNDS = 20;
const TURNS = 64;
const KILLS = 50;

const root = fileURLToPath(new URL('../..', import.meta.url));
// where Node finds the packages of the project
const worker = join(root, 'node_modules/.cache/advisor-chain', `memory-worker-${process.pid}.mjs`);

function start(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [worker, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Hears the names of the turns that a process says are done; resolves when it has ended. */
function hear(
  child: ChildProcess,
  done: (name: string) => void,
): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (text + piece).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) done(line);
  });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal })));
}

/** The messages of a turn as they must be in the log. */
function turnOf(name: string): readonly Message[] {
  const call = { id: `call ${name}`, name: 'look', arguments: JSON.stringify({ name }) };
  return [
    { role: 'user', content: name },
    { role: 'assistant', text: null, toolCalls: [call] },
    { role: 'tool', toolCallId: call.id, toolName: 'look', content: `result of ${name}` },
    { role: 'assistant', text: `answer to ${name}`, toolCalls: [] },
  ];
}

/** The names of the turns of a log, in order; every turn must be whole, and alone. */
function checkedTurns(log: readonly StoredMessage[]): readonly string[] {
  const names: string[] = [];
  for (let at = 0; at < log.length; at += 4) {
    const turn = log.slice(at, at + 4);
    const [first] = turn;
    const name = first?.message.role === 'user' ? textOf(first.message.content) : `no beginning at ${at}`;
    expect(turn.map(({ message }) => said(message))).to.deep.equal(turnOf(name).map(said));
    expect(new Set(turn.map(({ turnId }) => turnId)).size, 'turn ids').to.equal(1);
    expect(turn.map(({ version }) => version)).to.deep.equal([1, 2, 3, 4].map((offset) => at + offset));
    names.push(name);
  }
  expect(new Set(names).size, 'turns that are there twice').to.equal(names.length);
  return names;
}

function said(message: Message): unknown {
  return message.role === 'assistant' ? [message.text ?? '', message.toolCalls.map(({ id, arguments: text }) => [id, text])] : message;
}

describe('a memory that several processes share', function () {
  this.timeout(240_000);
  this.slow(60_000);

  const folder = mkdtempSync(join(tmpdir(), 'chat-memory-'));
  const prefix = `t${randomUUID().replaceAll('-', '').slice(0, 16)}`;

  before(() =>
    build({
      entryPoints: [join(root, 'test/integration/memory-worker.ts')],
      outfile: worker,
      bundle: true,
      platform: 'node',
      format: 'esm',
      // one file, since it is loaded hundreds of times; only what is not JavaScript, or loads more by itself, stays outside
      external: ['libsql', 'pg', 'ioredis'],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: 'error',
    }),
  );
  after(() => {
    rmSync(worker);
    rmSync(folder, { recursive: true });
  });

  for (const kind of ['sqlite', 'postgres', 'redis'] as const)
    describe(kind, () => {
      const place = (name: string): string => (kind === 'sqlite' ? join(folder, `${name}.db`) : `${prefix}_${name}`);

      let isThere = kind === 'sqlite';

      before(async function () {
        isThere ||= await hasServer(this, kind === 'postgres' ? POSTGRES : REDIS);
      });

      after(async () => {
        if (kind !== 'postgres' || !isThere) return;
        const client = new pg.Client(POSTGRES.connection);
        await client.connect();
        for (const name of ['history', 'kill'])
          await client.query(`DROP TABLE IF EXISTS ${place(name)}_conversation, ${place(name)}_message`);
        await client.end();
      });

      it(`[F64] loses, doubles and mixes nothing of ${TURNS} turns at once x ${WRITERS} processes x ${ROUNDS} rounds`, async () => {
        const done: string[] = [];
        const ends = await Promise.all(
          Array.from({ length: WRITERS }, (_, at) =>
            hear(start(kind, place('history'), 'shared', `${at}`, `${ROUNDS}`, `${TURNS}`), (name) => done.push(name)),
          ),
        );
        expect(ends).to.deep.equal(ends.map(() => ({ code: 0, signal: null })));

        const { repository, close } = await openStore(kind, place('history'));
        const { messages } = await repository.read('shared');
        const names = checkedTurns(messages);
        expect(names.toSorted()).to.deep.equal(done.toSorted());
        expect(names).to.have.length(WRITERS * ROUNDS * TURNS);
        for (let at = 0; at < WRITERS; at++) {
          const rounds = names.filter((name) => name.startsWith(`${at}.`)).map((name) => Number(name.split('.')[1]));
          expect(rounds, `order of writer ${at}`).to.deep.equal(rounds.toSorted((a, b) => a - b));
        }
        await repository.delete('shared');
        await close();
        console.log(`      ${names.length} turns: lost 0, doubled 0, mixed 0, every writer in order`);
      });

      it(`[F61] [F64] loses no acknowledged turn, and keeps no half one, when processes are killed ${KILLS} times`, async () => {
        const acknowledged: string[] = [];
        const runAndKill = async (kill: number): Promise<void> => {
          const child = start(kind, place('kill'), 'shared', `${kill}`, '100000', '4');
          let count = 0;
          const limit = 1 + (kill % 10);
          const { signal } = await hear(child, (name) => {
            acknowledged.push(name);
            // right behind an answer, when the next turns are about to be written, and a little later
            if (++count === limit) setTimeout(() => child.kill('SIGKILL'), kill % 4);
          });
          expect(signal).to.equal('SIGKILL');
        };
        for (let kill = 0; kill < KILLS; kill += 2) await Promise.all([runAndKill(kill), runAndKill(kill + 1)]);

        const { repository, close } = await openStore(kind, place('kill'));
        const { messages } = await repository.read('shared');
        const names = new Set(checkedTurns(messages));
        const lost = acknowledged.filter((name) => !names.has(name));
        expect(lost).to.deep.equal([]);
        await repository.delete('shared');
        await close();
        console.log(`      ${KILLS} kills: ${acknowledged.length} turns acknowledged, ${names.size} stored, lost 0, half 0`);
      });
    });
});
