import { expect } from 'chai';
import type { Document } from '../../../src/core/chat/document.js';
import { CancelledError } from '../../../src/core/errors/errors.js';
import { ingest } from '../../../src/knowledge/ingest/ingest.js';
import type {
  DocumentSource,
  IngestOptions,
} from '../../../src/knowledge/ingest/ingest-options.js';
import { TextSplitter } from '../../../src/knowledge/splitters/text-splitter.js';
import type { UpsertOptions } from '../../../src/stores/vectors/document-store.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import { CountingEmbeddingModel } from '../../support/counting-embedding-model.js';
import { documentsOf, stateOf, textOf } from '../../support/knowledge.js';
import { Random } from '../../support/random.js';

const splitter = new TextSplitter({ size: 110, unit: 'characters' });

/** A store of a process that ends at its n-th write, before or after it has happened. */
class CrashingStore extends InMemoryVectorStore {
  writes = 0;
  crashAt = Infinity;
  crashesAfter = false;

  override async upsert(
    namespace: string,
    documents: readonly Document[],
    options?: UpsertOptions,
  ): Promise<void> {
    await this.attempt(() => super.upsert(namespace, documents, options));
  }

  override async delete(...args: Parameters<InMemoryVectorStore['delete']>): Promise<void> {
    await this.attempt(() => super.delete(...args));
  }

  private async attempt(write: () => Promise<void>): Promise<void> {
    this.writes++;
    if (this.writes < this.crashAt) return write();
    if (this.crashesAfter && this.writes === this.crashAt) await write();
    throw new Error('the process has ended');
  }
}

describe('ingest that is interrupted', () => {
  let store: CrashingStore;
  let model: CountingEmbeddingModel;

  const run = (source: DocumentSource, options: Partial<IngestOptions> = {}) =>
    ingest(source, { store, namespace: 'n', embeddingModel: model, splitter, ...options });
  const fresh = async (source: DocumentSource) => {
    const other = new InMemoryVectorStore();
    await run(source, { store: other, embeddingModel: new CountingEmbeddingModel() }).report();
    return stateOf(other);
  };
  const many = (count: number) => {
    const entries = Array.from({ length: count }, (_, at) => [
      `d${at}`,
      textOf(`a${at}`, `b${at}`),
    ]);
    return documentsOf(Object.fromEntries(entries));
  };

  beforeEach(() => {
    store = new CrashingStore();
    model = new CountingEmbeddingModel();
  });

  it('ends at unsubscribe, aborts the request to the model and closes the source', async () => {
    let closed = false;
    async function* source() {
      try {
        for (let at = 0; ; at++) yield { id: `d${at}`, text: `text ${at}` };
      } finally {
        closed = true;
      }
    }
    const asked = new Promise<AbortSignal | undefined>((resolve) => {
      model.before = (_, { signal }) => {
        resolve(signal);
        return new Promise(() => undefined);
      };
    });

    const subscription = run(source()).subscribe();
    const signal = await asked;
    subscription.unsubscribe();
    await new Promise(setImmediate);

    expect([signal?.aborted, closed, store.writes]).to.deep.equal([true, true, 0]);
  });

  it('rejects with a CancelledError when its signal aborts, also while the source waits', async () => {
    const controller = new AbortController();
    const source: AsyncIterable<Document> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          controller.abort(new Error('enough'));
          return new Promise(() => undefined);
        },
      }),
    };

    const error: unknown = await run(source, { signal: controller.signal })
      .report()
      .catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(CancelledError);
    expect(((error as Error).cause as Error).message).to.equal('enough');
  });

  it('asks and writes nothing with a signal that has aborted', async () => {
    const signal = AbortSignal.abort();

    const error: unknown = await run(many(2), { signal })
      .report()
      .catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(CancelledError);
    expect([model.requests.length, store.writes]).to.deep.equal([0, 0]);
  });

  it('continues where an ingest was cancelled', async () => {
    const documents = many(30);
    let count = 0;
    for await (const event of run(documents, { batchSize: 4 }))
      if (event.type === 'document' && ++count === 7) break;

    const { unchanged } = await run(documents).report();

    expect(unchanged).to.be.within(7, 29);
    expect(await stateOf(store)).to.deep.equal(await fresh(documents));
  });

  it('ends like a fresh ingest after a crash at any write', async () => {
    const before = documentsOf({
      a: textOf('one', 'two'),
      b: textOf('three'),
      c: 'four',
      d: 'five',
    });
    const after = documentsOf({
      a: textOf('one', 'TWO'),
      b: ' ',
      e: textOf('six', 'six'),
      d: 'five',
    });
    const expected = await fresh(after);
    for (const crashesAfter of [false, true])
      for (let crashAt = 1, crashed = true; crashed; crashAt++) {
        store = new CrashingStore();
        await run(before).report();
        Object.assign(store, { crashAt: store.writes + crashAt, crashesAfter });
        const options = { batchSize: 1, maxFailures: 0 };
        crashed = await run(after, options)
          .report()
          .then(
            () => false,
            () => true,
          );
        expect(await chunksByDocument(store), 'no half document').to.satisfy(areWhole);

        store.crashAt = Infinity;
        await run(after).report();

        expect(await stateOf(store), `write ${crashAt}`).to.deep.equal(expected);
      }
  });

  it('rebuilds like a fresh ingest after a crash at any write', async () => {
    const documents = many(3);
    const options = { embeddingModel: new CountingEmbeddingModel('other 4', 4), rebuild: true };
    for (let crashAt = 1, crashed = true; crashed; crashAt++) {
      store = new CrashingStore();
      await run(documents).report();
      store.crashAt = store.writes + crashAt;
      crashed = await run(documents, { ...options, batchSize: 1, maxFailures: 0 })
        .report()
        .then(
          () => false,
          () => true,
        );
      store.crashAt = Infinity;

      await run(documents, options).report();

      const lengths = (await stateOf(store)).map(({ vector }) => vector?.length);
      expect(lengths, `write ${crashAt}`).to.deep.equal([4, 4, 4, 4, 4, 4]);
    }
  });

  it('ends like a fresh ingest when two run at once', async () => {
    const texts = many(20);
    const after = [...texts, ...documentsOf({ a: textOf('one', 'TWO') })];
    await run(documentsOf({ a: textOf('one', 'two'), gone: 'gone' })).report();
    model.before = () => new Promise(setImmediate);

    await Promise.all([run(after, { batchSize: 3 }).report(), run(after).report()]);

    expect(await stateOf(store)).to.deep.equal(await fresh(after));
  });

  it('ends like a fresh ingest after any edits', async () => {
    const random = new Random(20);
    const texts: Record<string, string> = {};
    const word = (): string => random.pick(['alpha', 'beta', 'gamma', 'delta', '']);
    for (let round = 0; round < 25; round++) {
      for (let edit = 0; edit < 5; edit++) {
        const id = `d${random.below(12)}`;
        if (random.chance(0.3)) delete texts[id];
        else texts[id] = textOf(...Array.from({ length: random.below(5) }, word));
      }

      const report = await run(documentsOf(texts)).report();

      expect(report.failed).to.deep.equal([]);
      expect(await stateOf(store), `round ${round}`).to.deep.equal(await fresh(documentsOf(texts)));
    }
  });
});

/** Numbers of the chunks of each document, and whether all have one hash. */
async function chunksByDocument(store: InMemoryVectorStore) {
  const byDocument = new Map<unknown, Document[]>();
  for (const chunk of await stateOf(store)) {
    const id = chunk.metadata?.['document'];
    byDocument.set(id, [...(byDocument.get(id) ?? []), chunk]);
  }
  return [...byDocument.values()];
}

function areWhole(documents: readonly (readonly Document[])[]): boolean {
  return documents.every((chunks) => {
    const numbers = chunks
      .map(({ metadata }) => Number(metadata?.['chunk']))
      .toSorted((a, b) => a - b);
    const hashes = new Set(chunks.map(({ metadata }) => metadata?.['documentHash']));
    return hashes.size === 1 && numbers.every((number, at) => number === at);
  });
}
