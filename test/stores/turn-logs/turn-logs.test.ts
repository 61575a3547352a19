import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';
import {
  InvalidArgumentError,
  LimitExceededError,
  TurnLogError,
} from '../../../src/core/errors/errors.js';
import { InMemoryTurnLog } from '../../../src/stores/turn-logs/in-memory-turn-log.js';
import { PostgresTurnLog } from '../../../src/stores/turn-logs/postgres-turn-log.js';
import { RedisTurnLog } from '../../../src/stores/turn-logs/redis-turn-log.js';
import { itBehavesLikeATurnLog } from '../../../src/testing/index.js';
import { failureOf } from '../../support/modes.js';
import { hasServer, POSTGRES, REDIS } from '../../support/servers.js';
import { BAD_SQL_NAMES, SQL_NAME_RULE } from '../../support/sql-names.js';

const TIMES = { lease: 60_000, ttl: 60_000 };
const entry = 'x'.repeat(100);

describe('InMemoryTurnLog', () => {
  const shared = new InMemoryTurnLog();
  itBehavesLikeATurnLog({ name: 'InMemoryTurnLog', create: () => shared });

  it('deletes logs of ended runs at its limit, and refuses entries of running ones', async () => {
    const log = new InMemoryTurnLog({ maxCharacters: 1_000 });
    const write = async (key: string, count: number, end?: 'complete'): Promise<unknown> => {
      const { generation } = await log.begin(key, { writer: key, ...TIMES });
      const entries = Array.from({ length: count }, () => entry);
      return log.append(key, { generation, writer: key, after: 0, entries, end, ...TIMES });
    };
    await write('ended', 4, 'complete');
    await write('running', 4);
    await write('next', 5, 'complete');
    const refused = await failureOf(write('too long', 7));

    expect(await log.read('ended', { after: 0, limit: 9 })).to.equal(undefined);
    expect((await log.read('running', { after: 0, limit: 9 }))?.entries).to.have.length(4);
    expect(refused).to.be.instanceOf(LimitExceededError);
    expect(refused).to.deep.include({ limit: 'log-characters', option: 'maxCharacters' });
  });

  it('keeps two runs of a key, and its count of characters exact', async () => {
    const log = new InMemoryTurnLog({ maxCharacters: 700 });
    for (let round = 0; round < 50; round++) {
      const { generation } = await log.begin('key', { writer: `${round}`, ...TIMES });
      const entries = [entry, entry];
      const batch = { generation, writer: `${round}`, after: 0, entries, ...TIMES };
      await log.append('key', { ...batch, end: 'complete' });
    }

    expect((await log.read('key', { after: 0, limit: 9 }))?.entries).to.have.length(2);
  });
});

describe('RedisTurnLog', () => {
  const keyPrefix = `advisor-chain:turn-log:${randomUUID()}`;
  const clients: { ioredis?: Redis; redis?: ReturnType<typeof createClient> } = {};
  const logs: RedisTurnLog[] = [];
  before(async function () {
    if (!(await hasServer(this, REDIS))) return;
    clients.ioredis = new Redis(REDIS.connection);
    clients.redis = createClient({ socket: REDIS.connection });
    await clients.redis.connect();
    for (const client of [clients.ioredis, clients.redis])
      logs.push(new RedisTurnLog({ client, keyPrefix }));
  });
  after(async () => {
    const keys = (await clients.ioredis?.keys(`${keyPrefix}*`)) ?? [];
    if (keys.length > 0) await clients.ioredis?.del(keys);
    await clients.ioredis?.quit();
    await clients.redis?.close();
  });
  let created = 0;
  itBehavesLikeATurnLog({
    name: 'RedisTurnLog on ioredis and redis',
    create: () => logs[created++ % 2] as RedisTurnLog,
  });

  it('keeps a stream with the ids of the events, in one slot, with a time to live', async () => {
    const log = logs[0] as RedisTurnLog;
    const { generation } = await log.begin('a{b}', { writer: 'w', ...TIMES });
    await log.append('a{b}', { generation, writer: 'w', after: 0, entries: ['x', 'y'], ...TIMES });
    const key = `${keyPrefix}:events:{a%7Bb%7D}`;

    expect(await clients.ioredis?.xrange(key, '-', '+')).to.deep.equal([
      [`${generation}-1`, ['entry', 'x']],
      [`${generation}-2`, ['entry', 'y']],
    ]);
    expect(await clients.ioredis?.pttl(key)).to.be.within(60_001, 120_000);
    expect(await clients.ioredis?.pttl(`${keyPrefix}:run:{a%7Bb%7D}`)).to.be.within(60_001, 120_000); // prettier-ignore
  });

  it('refuses a server that could evict a run', async () => {
    const info = 'maxmemory:1000\r\nmaxmemory_policy:volatile-lru\r\naof_enabled:0';
    const client = { call: (command: string) => Promise.resolve(command === 'INFO' ? info : null) };
    const refused = await failureOf(new RedisTurnLog({ client }).stop('a', 1));

    expect(refused).to.be.instanceOf(InvalidArgumentError);
  });

  it('names what failed', async () => {
    const call = (): Promise<never> => Promise.reject(new Error('Connection is closed.'));
    const error = await failureOf(new RedisTurnLog({ client: { call } }).stop('a', 1));

    expect(error).to.be.instanceOf(TurnLogError);
    expect(error).to.deep.include({ code: 'turn_log', reason: 'store', key: 'a' });
    expect((error as Error).message).to.equal('The turn log has failed: Connection is closed.');
  });
});

describe('PostgresTurnLog', () => {
  const client = { query: () => Promise.resolve({ rows: [] }) };
  for (const name of BAD_SQL_NAMES)
    it(`rejects the schema or table ${JSON.stringify(String(name).slice(0, 20))}`, () => {
      for (const option of ['schema', 'table'])
        expect(() => new PostgresTurnLog({ client, [option]: name })).to.throw(
          InvalidArgumentError,
          SQL_NAME_RULE,
        );
    });

  describe('on a server', () => {
    const table = `t${randomUUID().replaceAll('-', '').slice(0, 16)}`;
    const pools: pg.Pool[] = [];
    const logs: PostgresTurnLog[] = [];
    before(async function () {
      if (!(await hasServer(this, POSTGRES))) return;
      for (let at = 0; at < 2; at++) {
        // no law is about a loss of power
        const options = '-c synchronous_commit=off';
        const pool = new pg.Pool({ ...POSTGRES.connection, max: 4, options });
        pools.push(pool);
        logs.push(new PostgresTurnLog({ client: pool, schema: 'public', table }));
      }
      await Promise.all([...logs, ...logs].map((log) => log.migrate()));
    });
    after(async () => {
      await pools[0]?.query(`DROP TABLE IF EXISTS ${table}, ${table}_events`);
      await Promise.all(pools.map((pool) => pool.end()));
    });
    let created = 0;
    itBehavesLikeATurnLog({
      name: 'PostgresTurnLog on pools of pg',
      create: () => logs[created++ % 2] as PostgresTurnLog,
    });

    it('deletes two expired logs at each run that begins, all by deleteExpired', async () => {
      const log = logs[0] as PostgresTurnLog;
      await log.deleteExpired();
      for (let at = 0; at < 6; at++) {
        const run = { writer: 'w', ...TIMES };
        const { generation } = await log.begin(`expired ${at}`, run);
        await log.append(`expired ${at}`, { generation, after: 0, entries: ['a'], ...run });
      }
      await pools[0]?.query(`UPDATE ${table} SET expires = now() WHERE key LIKE 'expired %'`);
      const count = async (of: string): Promise<number> => {
        const sql = `SELECT count(*)::int AS n FROM ${of} WHERE key LIKE 'expired %'`;
        const { rows } = await (pools[0] as pg.Pool).query<{ readonly n: number }>(sql);
        return rows[0]?.n ?? 0;
      };
      await log.begin('lasting', { writer: 'w', ...TIMES });
      const left = [await count(table), await count(`${table}_events`)];
      const deleted = await log.deleteExpired();

      expect(left).to.deep.equal([4, 4]);
      expect(deleted).to.equal(4);
      expect(await count(`${table}_events`)).to.equal(0);
    });
  });
});
