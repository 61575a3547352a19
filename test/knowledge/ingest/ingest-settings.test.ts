import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Document } from '../../../src/core/chat/document.js';
import { IngestError, type IngestReport } from '../../../src/core/errors/errors.js';
import { ingest } from '../../../src/knowledge/ingest/ingest.js';
import type {
  DocumentSource,
  IngestOptions,
} from '../../../src/knowledge/ingest/ingest-options.js';
import { TextSplitter } from '../../../src/knowledge/splitters/text-splitter.js';
import type { DocumentStore } from '../../../src/stores/vectors/document-store.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import { SqliteVectorStore } from '../../../src/stores/vectors/sqlite-vector-store.js';
import { CountingEmbeddingModel } from '../../support/counting-embedding-model.js';
import { documentsOf, stateOf, textOf } from '../../support/knowledge.js';
import { Random } from '../../support/random.js';

const ROUNDS = 40;
const splitter = new TextSplitter({ size: 110, unit: 'characters' });
const tick = (): Promise<void> => new Promise(setImmediate);

/** An ingest with a model of its own, or a splitter; each request to the model waits for some tasks. */
function start(store: DocumentStore, random: Random, options: Partial<IngestOptions> = {}) {
  const embeddingModel = new CountingEmbeddingModel();
  embeddingModel.before = async () => {
    for (let at = random.below(6); at > 0; at--) await tick();
  };
  const texts = Array.from({ length: 1 + random.below(8) }, () => `d${random.below(10)}`);
  const source = documentsOf(Object.fromEntries(texts.map((id) => [id, textOf('one', 'two')])));
  const all = { store, namespace: 'n', splitter, embeddingModel, batchSize: 2, ...options };
  return ingest(source, all).report();
}

/** An ingest that waits, before its first request to the model, until the other one has ended. */
async function startDuring(store: DocumentStore, other: () => Promise<unknown>) {
  const embeddingModel = new CountingEmbeddingModel();
  let once: Promise<unknown> | undefined;
  embeddingModel.before = () => (once ??= other());
  const source = documentsOf({ a: 'one' });
  return ingest(source, { store, namespace: 'n', splitter, embeddingModel }).report();
}

function other(dimensions = 8): CountingEmbeddingModel {
  return new CountingEmbeddingModel(`other ${dimensions}`, dimensions);
}

async function fingerprintsOf(store: DocumentStore): Promise<ReadonlySet<unknown>> {
  return new Set((await store.list('n')).map(({ metadata }) => metadata?.['fingerprint']));
}

async function refusalOf(run: Promise<unknown>): Promise<IngestError> {
  const error: unknown = await run.catch((thrown: unknown) => thrown);
  expect(error).to.be.instanceOf(IngestError);
  expect((error as IngestError).reason).to.equal('settings');
  return error as IngestError;
}

describe('ingests with different settings into an empty namespace at the same time', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ingest-settings-'));
  const stores: SqliteVectorStore[] = [];
  before(async () => {
    const file = join(folder, 'vectors.db');
    for (let at = 0; at < 2; at++) stores.push(await SqliteVectorStore.open(file));
  });
  after(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true });
  });
  const pairs: Record<string, () => readonly [DocumentStore, DocumentStore]> = {
    'in memory': () => {
      const store = new InMemoryVectorStore();
      return [store, store];
    },
    'by two connections of SQLite': () => stores as unknown as [DocumentStore, DocumentStore],
  };

  for (const [name, pair] of Object.entries(pairs))
    it(`are never mixed without an error, ${name}`, async () => {
      let mixed = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const random = new Random(round);
        const [one, two] = pair();
        await one.clear('n');

        const settled = await Promise.allSettled([
          start(one, random),
          start(two, random, random.pick([{ embeddingModel: other() }, { splitter: big }])),
        ]);

        if ((await fingerprintsOf(one)).size < 2) continue;
        mixed++;
        const errors = settled.flatMap((each) => (each.status === 'rejected' ? each.reason : []));
        expect(errors, `round ${round}`).not.to.have.length(0);
        for (const error of errors)
          expect(error).to.include({ code: 'ingest', reason: 'settings' });
      }
      expect(mixed).to.be.greaterThan(0);
    });
});

const big = new TextSplitter();

describe('an ingest during which another one with other settings ran', () => {
  let store: InMemoryVectorStore;
  const run = (texts: Record<string, string>, embeddingModel = other(), rebuild = false) =>
    ingest(documentsOf(texts), {
      store,
      namespace: 'n',
      splitter,
      embeddingModel,
      rebuild,
    }).report();

  beforeEach(() => {
    store = new InMemoryVectorStore();
  });

  it('is refused with both settings, and is followed by one that rebuilds', async () => {
    const error = await refusalOf(startDuring(store, () => run({ b: 'two' })));

    expect(error.message).to.include('other 8').and.to.include('Another ingest');
    expect(error.message).to.include('counting 8').and.to.include('rebuild: true');
    expect(error.report.added).to.equal(1);
    await run({ a: 'one', b: 'two' }, new CountingEmbeddingModel(), true);
    expect([...(await fingerprintsOf(store))].join()).to.match(/counting 8$/);
  });

  it('is refused if the vectors of both do not even fit together', async () => {
    const error = await refusalOf(startDuring(store, () => run({ b: 'two' }, other(4))));

    expect(error.report.failed.map(({ id }) => id)).to.deep.equal(['a']);
  });

  it('deletes nothing that is missing in its source', async () => {
    await run({ a: 'old', gone: 'gone' }, new CountingEmbeddingModel());
    const rebuild = (): Promise<IngestReport> => run({ b: 'two' }, other(), true);

    await refusalOf(startDuring(store, rebuild));

    const left = (await store.list('n')).map(({ metadata }: Document) => metadata?.['document']);
    expect(left).to.have.members(['a', 'b']);
  });

  it('ends well if it has replaced all that the other one wrote', async () => {
    const report = await startDuring(store, () => run({ a: 'one' }));

    expect(report.added).to.equal(1);
    expect([...(await fingerprintsOf(store))].join()).to.match(/counting 8$/);
  });

  it('takes no vectors of the other model for chunks that have not changed', async () => {
    const [before, after] = [textOf('one', 'two'), textOf('one', 'TWO')];
    const mine = (into: DocumentStore, source: DocumentSource) =>
      ingest(source, {
        store: into,
        namespace: 'n',
        splitter,
        embeddingModel: new CountingEmbeddingModel(),
      }).report();
    await mine(store, documentsOf({ a: before }));
    class OtherVectors extends CountingEmbeddingModel {
      override async embed(texts: readonly string[]) {
        return super.embed(texts.map((text) => `other ${text}`));
      }
    }
    async function* source() {
      await run({ a: before }, new OtherVectors('other 8'), true);
      yield* documentsOf({ a: after });
    }

    await mine(store, source());

    const fresh = new InMemoryVectorStore();
    await mine(fresh, documentsOf({ a: after }));
    expect(await stateOf(store)).to.deep.equal(await stateOf(fresh));
  });

  it('leaves documents of the other one that are missing in its source', async () => {
    const embeddingModel = new CountingEmbeddingModel();
    await run({ a: 'one', b: 'two' }, embeddingModel);
    async function* source() {
      await run({ b: 'two' }, other(), true);
      yield* documentsOf({ a: 'one' });
    }

    await ingest(source(), { store, namespace: 'n', splitter, embeddingModel }).report();

    expect((await store.list('n')).map(({ text }) => text)).to.deep.equal(['two']);
  });

  it('ends well beside documents of the application that have a fingerprint of their own kind', async () => {
    const vector = new Float32Array(8).fill(1);
    const own = [undefined, '', 7, true, ['x']].map((fingerprint, at) => {
      const metadata = { chunk: 0, ...(fingerprint !== undefined && { fingerprint }) };
      return { id: `own ${at}`, text: 'own', vector, metadata };
    });

    const report = await startDuring(store, () => store.upsert('n', own));

    expect(report.added).to.equal(1);
  });

  it('is not asked about again when nothing was written', async () => {
    await run({ a: 'one' });
    let lists = 0;
    const list = store.list.bind(store);
    store.list = (...args) => {
      lists++;
      return list(...args);
    };

    await run({ a: 'one' });

    expect(lists).to.equal(1);
  });
});
