import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Pool } from 'pg';
import type { ChatEvent } from '../../../src/index.js';
import { PostgresTurnLog } from '../../../src/stores/turn-logs/postgres-turn-log.js';
import { bundleWorker } from '../../support/bundle-worker.js';
import { postgresPrograms, startOwnPostgres } from '../../support/own-postgres.js';
import { hasRedisProgram, startOwnRedis } from '../../support/own-redis.js';
import { Random } from '../../support/random.js';
import { standing } from '../../support/standing-events.js';
import { DELTAS, recordedSteps, type TurnLogWork } from '../../support/turn-log-worker.js';

const ROUNDS = process.env['KILL_MATRIX'] === 'full' ? 20 : 2;

interface Line {
  readonly kind: string;
  readonly value: unknown;
}

/** A process of the matrix. */
class Worker {
  readonly lines: Line[] = [];
  readonly exit: Promise<unknown>;
  private readonly child: ChildProcess;
  private readonly looks = new Set<() => void>();
  private hasEnded = false;

  constructor(file: string, settings: TurnLogWork) {
    this.child = spawn(process.execPath, ['--no-deprecation', file, JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: this.child.stdout as NonNullable<ChildProcess['stdout']> }).on(
      'line',
      (text) => {
        const space = text.indexOf(' ');
        // the last line of a killed process may be cut
        try {
          this.lines.push({
            kind: text.slice(0, space),
            value: JSON.parse(text.slice(space)) as unknown,
          });
        } catch {
          return;
        }
        this.look();
      },
    );
    this.exit = once(this.child, 'close').then(() => ((this.hasEnded = true), this.look()));
  }

  /** Resolves when there are lines of a kind, or the process has ended. */
  async until(kind: string, count = 1): Promise<boolean> {
    for (;;) {
      if (this.lines.filter((line) => line.kind === kind).length >= count) return true;
      if (this.hasEnded) return false;
      await new Promise<void>((resolve) => this.looks.add(resolve));
    }
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exit;
  }

  private look(): void {
    for (const resolve of this.looks) resolve();
    this.looks.clear();
  }
}

interface Shown {
  readonly id: string;
  readonly data: ChatEvent;
}

/** A client whose process may be killed; the next one continues after the last event that it has printed. */
class Client {
  readonly shown: Shown[] = [];
  private worker: Worker | undefined;
  kills = 0;

  constructor(private readonly start: (lastEventId: string | undefined) => Worker) {}

  /** @param lifetimeOf milliseconds until the process is killed; undefined for none */
  async readToEnd(lifetimeOf: () => number | undefined): Promise<Line | undefined> {
    for (;;) {
      const worker = this.start(this.shown.at(-1)?.id);
      this.worker = worker;
      const lifetime = lifetimeOf();
      const isKilled = lifetime !== undefined && (await this.killAfter(worker, lifetime));
      await worker.exit;
      for (const { kind, value } of worker.lines)
        if (kind === 'event') this.shown.push(value as Shown);
      if (!isKilled) return worker.lines.at(-1);
      this.kills++;
    }
  }

  stop(): Promise<void> | undefined {
    return this.worker?.kill();
  }

  private async killAfter(worker: Worker, milliseconds: number): Promise<boolean> {
    await worker.until('event');
    const isOver = await Promise.race([worker.exit.then(() => true), delay(milliseconds, false)]);
    if (!isOver) await worker.kill();
    return !isOver;
  }
}

interface Store {
  readonly server: number | string;
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

async function startRedis(): Promise<Store> {
  const redis = await startOwnRedis();
  const restart = async (): Promise<void> => {
    await redis.kill();
    await delay(300);
    await redis.start();
  };
  return { server: redis.port, restart, stop: () => redis.stop() };
}

async function startPostgres(): Promise<Store> {
  const postgres = await startOwnPostgres(postgresPrograms() as string);
  const client = new Pool({ connectionString: postgres.url });
  await new PostgresTurnLog({ client }).migrate();
  await client.end();
  return {
    server: postgres.url,
    restart: () => postgres.restart('immediate'),
    stop: () => postgres.stop(),
  };
}

/** Every event once, in order: positions from 1 on, of one run. */
function checkIds(shown: readonly Shown[]): void {
  const [first] = shown;
  const generation = first?.id.split('-')[0];
  expect(shown.map(({ id }) => id)).to.deep.equal(
    Array.from({ length: shown.length }, (_, at) => `${generation}-${at + 1}`),
  );
}

for (const [name, start] of [
  ['Redis', startRedis],
  ['PostgreSQL', startPostgres],
] as const)
  describe(`[slow] the log of a turn in ${name}, whose processes are killed`, function () {
    this.timeout(60_000 + ROUNDS * 60_000);
    let store: Store;
    let worker: string;
    let folder: string;
    before(async function () {
      if (!postgresPrograms() || !hasRedisProgram()) {
        if (process.env['CI'] === 'true') throw new Error('CI needs initdb and redis-server');
        console.log('      skipped: initdb or redis-server is not installed');
        return this.skip();
      }
      worker = await bundleWorker('turn-log-worker');
      folder = mkdtempSync(join(tmpdir(), 'turn-log-'));
      store = await start();
    });
    after(async () => {
      await store?.stop();
      if (worker) rmSync(worker);
      if (folder) rmSync(folder, { recursive: true });
    });

    const begin = (settings: Omit<TurnLogWork, 'server'>): Worker =>
      new Worker(worker, { ...settings, server: store.server });
    const clientOf = (key: string): Client =>
      new Client((lastEventId) => begin({ role: 'reader', key, lastEventId }));

    it('loses and doubles no event of a plain run: readers killed, store restarted', async () => {
      const random = new Random(1);
      let kills = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const key = `plain ${round}`;
        const clients = [clientOf(key), clientOf(key)] as const;
        const reading = [
          clients[0].readToEnd(() => 20 + random.below(300)),
          clients[1].readToEnd(() => undefined),
        ];
        const writer = begin({ role: 'plain', key });
        await writer.until('started');
        await delay(random.below(250));
        if (round % 2 === 0) await store.restart();
        const ends = await Promise.all(reading);
        await writer.exit;

        for (const [at, { shown }] of clients.entries()) {
          expect(ends[at]?.kind).to.equal('end');
          checkIds(shown);
          expect(shown).to.have.length(DELTAS + 1);
          expect(
            shown.map(({ data }) => (data.type === 'text-delta' ? data.text : '')).join(''),
          ).to.equal(Array.from({ length: DELTAS }, (_, index) => `${index} `).join(''));
        }
        kills += clients[0].kills;
      }
      console.log(`      ${kills} readers killed, ${Math.ceil(ROUNDS / 2)} restarts`);
    });

    it('ends the readers of a plain run whose writer is killed, with a typed error after the same events', async () => {
      const random = new Random(2);
      for (let round = 0; round < 3; round++) {
        const key = `killed ${round}`;
        const clients = [clientOf(key), clientOf(key)] as const;
        const reading = clients.map((client) => client.readToEnd(() => undefined));
        const writer = begin({ role: 'plain', key });
        await writer.until('started');
        await delay(50 + random.below(300));
        await writer.kill();
        await Promise.all(reading);
        const [first, second] = clients.map(({ shown }) => shown.map(({ data }) => data));

        expect(first).to.deep.equal(second);
        const error = first?.at(-1) as unknown as {
          type: string;
          error: { code: string; status: number };
        };
        expect([error.type, error.error.code, error.error.status]).to.deep.equal([
          'error',
          'turn_log',
          503,
        ]);
        checkIds((clients[0].shown as Shown[]).slice(0, -1));
      }
    });

    it('loses and doubles no event of a durable turn: writers and readers killed, store restarted', async () => {
      const random = new Random(3);
      let [kills, deaths, retracts] = [0, 0, 0];
      for (let round = 0; round < ROUNDS; round++) {
        const key = `durable ${round}`;
        const file = join(folder, `${round}.steps`);
        const clients = [clientOf(key), clientOf(key)] as const;
        const reading = [
          clients[0].readToEnd(() => 30 + random.below(600)),
          clients[1].readToEnd(() => undefined),
        ];
        for (let number = 0; ; number++) {
          const writer = begin({ role: 'durable', key, number, file });
          await writer.until('started');
          const isLast = number === 4;
          const isOver =
            isLast ||
            (await Promise.race([
              writer.exit.then(() => true),
              delay(20 + random.below(350), false),
            ]));
          if (number === 1 && round % 2 === 0) await store.restart();
          if (isOver) {
            await writer.exit;
            expect(writer.lines.map(({ kind }) => kind)).to.deep.equal(['started', 'ended']);
            break;
          }
          await writer.kill();
          deaths++;
        }
        const ends = await Promise.all(reading);

        const recorded = recordedSteps(file).flatMap(([step, value]) => {
          if (!step.startsWith('model')) return [];
          const { response } = value as unknown as {
            response: { generations: { message: { content: string } }[] };
          };
          return [response.generations[0]?.message.content];
        });
        for (const [at, { shown }] of clients.entries()) {
          expect(ends[at]?.kind).to.equal('end');
          checkIds(shown);
          const left = standing(shown.map(({ data }) => data));
          expect(left.texts).to.deep.equal(recorded);
          const once = left.keys.filter((each) => !each.startsWith('tool-progress'));
          expect(once).to.deep.equal([...new Set(once)]);
          expect(shown.at(-1)?.data.type).to.equal('response');
        }
        expect(clients[0].shown).to.deep.equal(clients[1].shown);
        kills += clients[0].kills;
        retracts += clients[1].shown.filter(({ data }) => data.type === 'retract').length;
      }
      console.log(
        `      ${deaths} writers and ${kills} readers killed, ${Math.ceil(ROUNDS / 2)} restarts, ${retracts} calls voided`,
      );
    });
  });
