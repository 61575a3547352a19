import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ingest } from '../../../src/knowledge/ingest/ingest.js';
import { TextSplitter } from '../../../src/knowledge/splitters/text-splitter.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import { SqliteVectorStore } from '../../../src/stores/vectors/sqlite-vector-store.js';
import type { DocumentStore } from '../../../src/stores/vectors/document-store.js';
import { bundleWorker } from '../../support/bundle-worker.js';
import { startCompetitor, type Competitor } from '../../support/competing-processes.js';
import { CountingEmbeddingModel } from '../../support/counting-embedding-model.js';
import { brokenDocuments, stateOfSource } from '../../support/ingested-states.js';
import { Random } from '../../support/random.js';

const [PROCESSES, KILLS] = [4, 12];

describe('ingests of several processes', function () {
  this.timeout(180_000);
  this.slow(90_000);

  const folder = mkdtempSync(join(tmpdir(), 'ingest-'));
  let worker: string;
  before(async () => {
    worker = await bundleWorker('ingest-worker');
  });
  after(() => {
    rmSync(worker);
    rmSync(folder, { recursive: true });
  });

  it('leave whole documents under kill -9, none twice and none lost', async () => {
    const file = join(folder, 'vectors.db');
    const broken: string[] = [];
    let ingests = 0;
    let seed = 0;
    const start = async (): Promise<Competitor> => {
      const process = await startCompetitor([worker, file, `${seed++}`], (line) => {
        if (line === 'ingested') ingests++;
        else broken.push(line);
      });
      process.start();
      return process;
    };
    const random = new Random(34);
    const processes: Competitor[] = [];
    for (let at = 0; at < PROCESSES; at++) processes.push(await start());

    for (let kill = 0; kill < KILLS; kill++) {
      const before = ingests;
      while (ingests < before + random.below(4))
        await new Promise((resolve) => setTimeout(resolve, 10));
      const at = random.below(PROCESSES);
      processes[at]?.child.kill('SIGKILL');
      await processes[at]?.exit;
      processes[at] = await start();
    }
    for (const { child } of processes) child.stdin?.end();
    const codes = await Promise.all(processes.map(({ exit }) => exit));

    const store = await SqliteVectorStore.open(file);
    const left = brokenDocuments(await store.list('n'));
    await run(store);
    const [state, fresh] = [await idsOf(store), await idsOf(await run(new InMemoryVectorStore()))];
    await store.close();
    expect(codes).to.deep.equal([0, 0, 0, 0]);
    expect([...broken, ...left]).to.deep.equal([]);
    expect(state).to.deep.equal(fresh);
  });
});

async function run<Store extends DocumentStore>(store: Store): Promise<Store> {
  const splitter = new TextSplitter({ size: 110, unit: 'characters' });
  const embeddingModel = new CountingEmbeddingModel();
  await ingest(stateOfSource(0), { store, embeddingModel, splitter, namespace: 'n' }).report();
  return store;
}

async function idsOf(store: DocumentStore): Promise<readonly unknown[]> {
  return (await store.list('n')).map(({ id, text, metadata }) => ({ id, text, metadata }));
}
