import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { ingest } from '../../../src/knowledge/ingest/ingest.js';
import { TextSplitter } from '../../../src/knowledge/splitters/text-splitter.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import type { DocumentStore } from '../../../src/stores/vectors/document-store.js';
import { bundleWorker } from '../../support/bundle-worker.js';
import { startCompetitor, type Competitor } from '../../support/competing-processes.js';
import { CountingEmbeddingModel } from '../../support/counting-embedding-model.js';
import { brokenDocuments, stateOfSource } from '../../support/ingested-states.js';
import { PGVECTOR_IN_SQL } from '../../support/pgvector-in-sql.js';
import { createPostgresDatabase } from '../../support/postgres-database.js';
import { Random } from '../../support/random.js';
import { hasServer, POSTGRES } from '../../support/servers.js';
import { openVectorStore } from '../../support/vector-stores.js';

const [PROCESSES, KILLS] = [4, 12];

describe('ingests of several processes', function () {
  this.timeout(180_000);
  this.slow(90_000);

  let worker: string;
  before(async () => {
    worker = await bundleWorker('ingest-worker');
  });
  after(() => rmSync(worker));

  it('leave whole documents in SQLite under kill -9, none twice and none lost', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ingest-'));
    try {
      await ingestUnderKills(worker, join(folder, 'vectors.db'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('leave whole documents in PostgreSQL under kill -9, none twice and none lost', async function () {
    if (!(await hasServer(this, POSTGRES))) return;
    const { url, drop } = await createPostgresDatabase();
    const client = new pg.Client(url);
    try {
      await client.connect();
      await client.query(PGVECTOR_IN_SQL);
      await ingestUnderKills(worker, url, () => untilAlone(client));
    } finally {
      await client.end();
      await drop();
    }
  });
});

/** @param settled resolves once nothing of the processes that have ended runs */
async function ingestUnderKills(
  worker: string,
  location: string,
  settled = (): Promise<void> => Promise.resolve(),
): Promise<void> {
  const { codes, broken, ingests, killed } = await race(worker, location);
  await settled();

  const { store, close } = await openVectorStore(location);
  const left = brokenDocuments(await store.list('n'));
  await run(store);
  const [state, fresh] = [await idsOf(store), await idsOf(await run(new InMemoryVectorStore()))];
  await close();
  console.log(`      ${killed} processes were killed, beside ${ingests} whole ingests`);
  expect(codes).to.deep.equal([0, 0, 0, 0]);
  expect(killed).to.equal(KILLS);
  expect([...broken, ...left]).to.deep.equal([]);
  expect(state).to.deep.equal(fresh);
}

/** Lets processes ingest and search one namespace, and kills them at random, each followed by another one. */
async function race(worker: string, location: string) {
  const broken: string[] = [];
  let [ingests, seed, killed] = [0, 0, 0];
  const start = async (): Promise<Competitor> => {
    const process = await startCompetitor([worker, location, `${seed++}`], (line) => {
      if (line === 'ingested') ingests++;
      else broken.push(line);
    });
    process.start();
    return process;
  };
  const random = new Random(34);
  const processes: Competitor[] = [];
  for (let at = 0; at < PROCESSES; at++) processes.push(await start());

  while (killed < KILLS) {
    const before = ingests;
    while (ingests < before + random.below(4))
      await new Promise((resolve) => setTimeout(resolve, 10));
    const at = random.below(PROCESSES);
    processes[at]?.child.kill('SIGKILL');
    if ((await processes[at]?.exit) === null) killed++;
    else break;
    processes[at] = await start();
  }
  for (const { child } of processes) child.stdin?.end();
  const codes = await Promise.all(processes.map(({ exit }) => exit));
  return { codes, broken, ingests, killed };
}

/** Resolves when the server has ended the sessions of killed processes, whose last statement it finishes. */
async function untilAlone(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function run<Store extends DocumentStore>(store: Store): Promise<Store> {
  const splitter = new TextSplitter({ size: 110, unit: 'characters' });
  const embeddingModel = new CountingEmbeddingModel();
  await ingest(stateOfSource(0), { store, embeddingModel, splitter, namespace: 'n' }).report();
  return store;
}

async function idsOf(store: DocumentStore): Promise<readonly unknown[]> {
  return (await store.list('n')).map(({ id, text, metadata }) => ({ id, text, metadata }));
}
