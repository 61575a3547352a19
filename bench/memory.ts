// Cost of a turn in a long and in a short conversation, in every store. See bench/README.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createClient } from 'redis';
import {
  InMemoryChatMemoryRepository,
  MessageWindowChatMemory,
  type ChatMemoryRepository,
  type Message,
} from '../src/index.js';
import { PostgresChatMemoryRepository } from '../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { RedisChatMemoryRepository } from '../src/stores/chat-memory/redis-chat-memory-repository.js';
import { SqliteChatMemoryRepository } from '../src/stores/chat-memory/sqlite-chat-memory-repository.js';

const SIZES = [10, 100, 1_000, 100_000];
const SAMPLES = 400;

const turn = (at: number): readonly Message[] => [
  { role: 'user', content: `Question ${at}: ${'what about this? '.repeat(10)}` },
  { role: 'assistant', content: `Answer ${at}: ${'that is so. '.repeat(20)}` },
];

async function fill(repository: ChatMemoryRepository, id: string, size: number): Promise<void> {
  for (let at = 0; at < size; at += 1_000) {
    const count = Math.min(1_000, size - at) / 2;
    await repository.append(
      id,
      Array.from({ length: count }, (_, index) => turn(at + index)).flat(),
    );
  }
}

/** Median in microseconds. The sizes take turns, so that whatever else happens on the machine meets them all. */
async function measure(
  operations: readonly (() => Promise<unknown>)[],
): Promise<readonly number[]> {
  const samples = operations.map((): number[] => []);
  for (let round = 0; round < SAMPLES; round++)
    for (const [at, operation] of operations.entries()) {
      const start = performance.now();
      await operation();
      samples[at]?.push((performance.now() - start) * 1_000);
    }
  return samples.map((times) => times.toSorted((a, b) => a - b)[Math.floor(SAMPLES / 2)] as number);
}

async function bench(name: string, repository: ChatMemoryRepository): Promise<void> {
  const chatMemory = new MessageWindowChatMemory({ repository });
  const ids = SIZES.map((size) => `${name} ${size}`);
  for (const [at, id] of ids.entries()) {
    await repository.delete(id);
    await fill(repository, id, SIZES[at] as number);
  }
  const reads = await measure(ids.map((id) => () => chatMemory.get(id)));
  const appends = await measure(ids.map((id) => () => chatMemory.add(id, turn(0))));
  for (const [what, times] of [
    ['append a turn', appends],
    ['read the window', reads],
  ] as const) {
    // a window of 20 messages is not full at 10; the first size with a full one is what reads are compared to
    const base = times[what === 'append a turn' ? 0 : 1] as number;
    const cells = times.map(
      (time) => `${time.toFixed(0).padStart(6)} µs (${(time / base).toFixed(2)})`,
    );
    console.log(`| ${name.padEnd(22)} | ${what.padEnd(15)} | ${cells.join(' | ')} |`);
  }
  for (const id of ids) await repository.delete(id);
}

console.log(
  `| store | | ${SIZES.map((size) => `${size.toLocaleString('en')} messages`).join(' | ')} |`,
);
await bench('in memory', new InMemoryChatMemoryRepository({ maxMessages: Infinity }));

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const sqlite = await SqliteChatMemoryRepository.open(join(folder, 'memory.db'));
await bench('SQLite, a file', sqlite);
await sqlite.close();
rmSync(folder, { recursive: true });

const pool = new pg.Pool({
  host: '127.0.0.1',
  database: 'test',
  user: process.env['PGUSER'] ?? 'root',
  max: 1,
});
const postgres = new PostgresChatMemoryRepository({ client: pool, tablePrefix: 'bench' });
await postgres.migrate();
await bench('PostgreSQL, loopback', postgres);
await pool.query('DROP TABLE bench_conversation, bench_message');
await pool.end();

const client = await createClient({ socket: { host: '127.0.0.1', port: 6379 } }).connect();
await bench('Redis, loopback', new RedisChatMemoryRepository({ client, keyPrefix: 'bench' }));
client.destroy();
