import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';
import type { ChatMemoryRepository } from '../../../src/index.js';
import { PostgresChatMemoryRepository } from '../../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import {
  RedisChatMemoryRepository,
  type RedisClient,
} from '../../../src/stores/chat-memory/redis-chat-memory-repository.js';
import { SqliteChatMemoryRepository } from '../../../src/stores/chat-memory/sqlite-chat-memory-repository.js';
import { turn } from '../../support/conversation.js';
import { failureOf } from '../../support/modes.js';
import { hasServer, POSTGRES, REDIS } from '../../support/servers.js';

const outcomeOf = async (repository: ChatMemoryRepository): Promise<unknown> => {
  const failure = await failureOf(repository.append('c', turn(1), { turnId: 'turn 1' }));
  return (failure as { readonly outcome?: unknown } | undefined)?.outcome;
};

describe('A write that fails', () => {
  const keyPrefix = `advisor-chain:outcomes:${randomUUID()}`;

  it('[D44] is not stored if SQLite refuses', async () => {
    const { default: Database } = await import('libsql');
    const database = new Database(':memory:');

    expect(await outcomeOf(new SqliteChatMemoryRepository({ database }))).to.equal('not-stored');
  });

  it('[D44] is not stored if PostgreSQL refuses', async function () {
    if (!(await hasServer(this, POSTGRES))) return;
    const client = new pg.Client(POSTGRES.connection);
    await client.connect();
    const repository = new PostgresChatMemoryRepository({ client, tablePrefix: 'missing' });

    expect(await outcomeOf(repository)).to.equal('not-stored');
    await client.end();
  });

  it('[D44] is not stored if no connection to PostgreSQL was made', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const client = new pg.Pool({ ...POSTGRES.connection, port });

    expect(await outcomeOf(new PostgresChatMemoryRepository({ client }))).to.equal('not-stored');
    await client.end();
  });

  for (const kind of ['redis', 'ioredis'] as const)
    it(`[D44] is not stored if Redis refuses, with ${kind}`, async function () {
      if (!(await hasServer(this, REDIS))) return;
      const own = new Redis(REDIS.connection);
      const other = await createClient({ socket: REDIS.connection }).connect();
      const client: RedisClient = kind === 'redis' ? other : own;
      await own.set(`${keyPrefix}:{c}`, 'a text');

      expect(await outcomeOf(new RedisChatMemoryRepository({ client, keyPrefix }))).to.equal(
        'not-stored',
      );
      await own.del(`${keyPrefix}:{c}`, `${keyPrefix}:ids`);
      await own.quit();
      other.destroy();
    });

  for (const [name, error, outcome] of [
    ['a shutdown of the server', { severity: 'FATAL', code: '57P01' }, 'unknown'],
    ['a broken connection', { code: 'ECONNRESET', syscall: 'read' }, 'unknown'],
    ['a statement of unknown completion', { severity: 'ERROR', code: '40003' }, 'unknown'],
    ['a failed transaction', { severity: 'ERROR', code: '40001' }, 'not-stored'],
  ] as const)
    it(`[D44] of PostgreSQL by ${name} is ${outcome}`, async () => {
      const query = () => Promise.reject(Object.assign(new Error(name), error));
      const repository = new PostgresChatMemoryRepository({ client: { query } });

      expect(await outcomeOf(repository)).to.equal(outcome);
    });
});
