import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { InvalidArgumentError } from '../../../src/index.js';
import {
  RedisChatMemoryRepository,
  type RedisChatMemoryRepositoryOptions,
} from '../../../src/stores/chat-memory/redis-chat-memory-repository.js';
import { turn } from '../../support/conversation.js';
import { failureOf } from '../../support/modes.js';
import { hasServer, REDIS } from '../../support/servers.js';

const keyPrefix = `advisor-chain:server:${randomUUID()}`;

const infoOf = (aof: number, maxmemory: number, policy: string): string =>
  [
    '# Memory',
    `maxmemory:${maxmemory}`,
    `maxmemory_policy:${policy}`,
    `# Persistence`,
    `aof_enabled:${aof}`,
    '',
  ].join('\r\n');

describe('RedisChatMemoryRepository and the configuration of its server', () => {
  let client: Redis;
  let asked = 0;
  before(async function () {
    if (await hasServer(this, REDIS)) client = new Redis(REDIS.connection);
  });
  beforeEach(() => {
    asked = 0;
  });
  after(() => client?.quit());

  /** A store on the server, which reports another configuration. */
  const storeOn = (
    info: string | Error,
    options: Partial<RedisChatMemoryRepositoryOptions> = {},
  ): RedisChatMemoryRepository => {
    const call = (command: string, ...values: string[]): Promise<unknown> => {
      if (command !== 'INFO') return client.call(command, ...values);
      asked++;
      return info instanceof Error ? Promise.reject(info) : Promise.resolve(info);
    };
    return new RedisChatMemoryRepository({ keyPrefix, ...options, client: { call } });
  };

  it('[D58] claims to be durable only if the server has an append-only file', async () => {
    for (const aof of [0, 1]) {
      const store = storeOn(infoOf(aof, 0, 'noeviction'));
      expect(store.capabilities.durable).to.equal(false);
      await store.append('c', turn(1));
      await store.read('c');

      expect(store.capabilities).to.deep.equal({
        durable: aof === 1,
        transactional: true,
        storesToolMessages: true,
      });
      expect(asked).to.equal(aof + 1);
      await store.delete('c');
    }
  });

  it('[D58] claims what the server reports', async () => {
    const store = new RedisChatMemoryRepository({ client, keyPrefix });
    await store.migrate();
    const [, appendonly] = (await client.config('GET', 'appendonly')) as string[];

    expect(store.capabilities.durable).to.equal(appendonly === 'yes');
  });

  for (const [policy, options, evicts] of [
    ['allkeys-lru', {}, true],
    ['allkeys-random', { ttl: 1_000 }, true],
    ['volatile-lru', { ttl: 1_000 }, true],
    ['volatile-lru', {}, false],
    ['noeviction', { ttl: 1_000 }, false],
    ['allkeys-lru', { allowEviction: true }, false],
  ] as const)
    it(`[D58] ${evicts ? 'refuses' : 'accepts'} ${policy} with ${JSON.stringify(options)}`, async () => {
      const store = storeOn(infoOf(1, 100_000_000, policy), options);
      const failures = [
        await failureOf(store.migrate()),
        await failureOf(store.read('c')),
        await failureOf(store.append('c', turn(1))),
      ];

      for (const failure of failures)
        if (evicts)
          expect(failure)
            .to.be.instanceOf(InvalidArgumentError)
            .with.property('message')
            .that.includes(`maxmemory-policy ${policy}`);
        else expect(failure).to.equal(undefined);
      await client.del(`${keyPrefix}:{c}`, `${keyPrefix}:ids`);
    });

  it('accepts a policy that a server without a limit of memory never applies', async () => {
    expect(await failureOf(storeOn(infoOf(0, 0, 'allkeys-lru')).migrate())).to.equal(undefined);
  });

  it('claims nothing of a server that refuses to answer', async () => {
    const store = storeOn(new Error('NOPERM this user has no permissions to run INFO'));
    await store.migrate();

    expect(store.capabilities.durable).to.equal(false);
  });

  it('asks again after a broken connection', async () => {
    const store = storeOn(new Error('Connection is closed.'));
    for (const expected of [1, 2]) {
      expect(await failureOf(store.read('c'))).to.have.property('message', 'Connection is closed.');
      expect(asked).to.equal(expected);
    }
  });

  it('[D58] loses a conversation as a whole when its key is evicted', async () => {
    const store = new RedisChatMemoryRepository({ client, keyPrefix });
    const version = await store.append('c', turn(1), { writeId: 'w' });
    const keys = await client.keys(`${keyPrefix}:*`);
    expect(keys.toSorted()).to.deep.equal([`${keyPrefix}:ids`, `${keyPrefix}:{c}`]);
    await client.unlink(`${keyPrefix}:{c}`);

    expect(await store.read('c')).to.deep.equal({ version: 0, messages: [], systemMessages: [] });
    expect(await store.conversationIds()).to.deep.equal([]);
    expect(
      await failureOf(store.append('c', turn(2), { expectedVersion: version })),
    ).to.have.property('code', 'memory_conflict');
    expect(await store.append('c', turn(2), { writeId: 'w' })).to.equal(2);
    await store.delete('c');
  });
});
