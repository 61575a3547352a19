import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import type { ChatMemoryRepository, KeyValueStore } from '../../src/index.js';
import { PostgresKeyValueStore } from '../../src/stores/key-value/postgres-key-value-store.js';
import { RedisKeyValueStore } from '../../src/stores/key-value/redis-key-value-store.js';
import { PostgresChatMemoryRepository } from '../../src/stores/chat-memory/postgres-chat-memory-repository.js';
import { RedisChatMemoryRepository } from '../../src/stores/chat-memory/redis-chat-memory-repository.js';
import { FleetLoad, questionsOf, storedTurns } from '../support/fleet/fleet-load.js';
import { FleetModelServer } from '../support/fleet/fleet-model-server.js';
import { PlainLoad } from '../support/fleet/plain-load.js';
import { WorkerFleet } from '../support/fleet/worker-fleet.js';
import { postgresPrograms, startOwnPostgres, type OwnPostgres } from '../support/own-postgres.js';
import { hasRedisProgram, startOwnRedis } from '../support/own-redis.js';

const CONVERSATIONS = 8;
/** Errors of a turn whose servers are away. */
const CODES = [
  'memory_read',
  'memory_write',
  'memory_conflict',
  'key_value',
  'model_call',
  'conversation_lock',
];

describe('servers that are restarted under load', () => {
  let postgres: OwnPostgres;
  let model: FleetModelServer;
  const closing: (() => Promise<unknown>)[] = [];

  before(async function () {
    const programs = postgresPrograms();
    if (!programs || !hasRedisProgram()) {
      if (process.env['CI'] === 'true') throw new Error('CI needs initdb and redis-server');
      console.log('      skipped: initdb or redis-server is not installed');
      return this.skip();
    }
    model = await FleetModelServer.start(20);
    closing.unshift(() => model.close());
    postgres = await startOwnPostgres(programs);
    closing.unshift(() => postgres.stop());
  });

  after(async () => {
    for (const close of closing) await close();
  });

  it('durable turns wait for PostgreSQL and the model, or fail with a typed error; none is lost', async () => {
    const config = {
      url: postgres.url,
      modelURL: model.baseURL,
      workerConcurrency: 5,
      pollInterval: 50,
      poolSize: 5,
    };
    const questions = questionsOf(CONVERSATIONS, 10);
    const load = await FleetLoad.open(config);
    closing.unshift(() => load.close());
    const fleet = await WorkerFleet.start(2, config);
    closing.unshift(() => fleet.stop());
    const pids = fleet.workers.map(({ pid }) => pid);

    await load.start(questions);
    await load.untilFinished(15);
    await postgres.restart('immediate');
    await load.untilFinished(35);
    await model.restart(300);
    await load.untilFinished(55);
    await postgres.restart('fast');
    await load.untilFinished(questions.length);

    const { answered, failures } = await load.outcomes(questions);
    console.log(`      ${answered.length} turns answered, ${JSON.stringify(failures)}`);
    expect(Object.keys(failures).filter((code) => !CODES.includes(code))).to.deep.equal([]);
    expect(fleet.workers.map(({ pid }) => pid)).to.deep.equal(pids);
    expect(await load.orderProblems(answered)).to.deep.equal([]);
  });

  it('turns with memory, locks and ledger in PostgreSQL: repeated with their ids, each happens once', async () => {
    const client = new Pool({ connectionString: postgres.url, max: 8 });
    client.on('error', () => undefined);
    closing.unshift(() => client.end());
    const memory = new PostgresChatMemoryRepository({ client, tablePrefix: 'plain' });
    const store = new PostgresKeyValueStore({ client });
    await memory.migrate();
    await store.migrate();

    await runThroughRestart(memory, store, () => postgres.restart('immediate'));
  });

  it('turns with memory, locks and ledger in Redis: repeated with their ids, each happens once', async () => {
    const redis = await startOwnRedis();
    closing.unshift(() => redis.stop());
    const client = new Redis({ port: redis.port, maxRetriesPerRequest: 1 });
    client.on('error', () => undefined);
    closing.unshift(async () => client.disconnect());
    const memory = new RedisChatMemoryRepository({ client });
    const store = new RedisKeyValueStore({ client });

    await runThroughRestart(memory, store, async () => {
      await redis.kill();
      await delay(500);
      await redis.start();
    });
  });

  async function runThroughRestart(
    memory: ChatMemoryRepository,
    store: KeyValueStore,
    restart: () => Promise<void>,
  ): Promise<void> {
    const questions = questionsOf(CONVERSATIONS, 12);
    const load = new PlainLoad(model.baseURL, memory, store);
    const running = load.run(questions);
    while (load.answers.size < questions.length / 3) await delay(5);
    await restart();
    await running;
    console.log(`      failed meanwhile: ${JSON.stringify(load.failures)}`);

    expect(Object.keys(load.failures).filter((code) => !CODES.includes(code))).to.deep.equal([]);
    expect(load.answers.size).to.equal(questions.length);
    expect(load.effects.length).to.equal(new Set(load.effects).size);
    for (const { conversation } of questions)
      expect(await storedTurns(memory, conversation)).to.deep.equal([...Array(12).keys()]);
  }
});
