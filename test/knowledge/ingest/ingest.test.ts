import { expect } from 'chai';
import {
  IngestError,
  InvalidArgumentError,
  type IngestReport,
} from '../../../src/core/errors/errors.js';
import { ingest } from '../../../src/knowledge/ingest/ingest.js';
import type { IngestEvent } from '../../../src/knowledge/ingest/ingest-progress.js';
import type {
  DocumentSource,
  IngestOptions,
} from '../../../src/knowledge/ingest/ingest-options.js';
import { TextSplitter } from '../../../src/knowledge/splitters/text-splitter.js';
import { KeywordIndex } from '../../../src/stores/texts/keyword-index.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import { CountingEmbeddingModel } from '../../support/counting-embedding-model.js';
import { documentsOf, stateOf, textOf } from '../../support/knowledge.js';

const splitter = new TextSplitter({ size: 110, unit: 'characters' });
const NOTHING: IngestReport = {
  added: 0,
  changed: 0,
  unchanged: 0,
  empty: 0,
  deleted: 0,
  failed: [],
  chunks: 0,
  embedded: 0,
};

async function errorOf(run: Promise<unknown>): Promise<IngestError> {
  const error: unknown = await run.catch((thrown: unknown) => thrown);
  expect(error).to.be.instanceOf(IngestError);
  return error as IngestError;
}

describe('ingest', () => {
  let store: InMemoryVectorStore;
  let model: CountingEmbeddingModel;

  const run = (source: DocumentSource, options: Partial<IngestOptions> = {}) =>
    ingest(source, { store, namespace: 'n', embeddingModel: model, splitter, ...options });
  const fresh = async (source: DocumentSource) => {
    const other = new InMemoryVectorStore();
    await run(source, { store: other, embeddingModel: new CountingEmbeddingModel() }).report();
    return stateOf(other);
  };
  const textsOf = async () => (await store.list('n')).map(({ text }) => text);
  const many = (count: number) =>
    documentsOf(
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`d${at}`, `text ${at}`])),
    );

  beforeEach(() => {
    store = new InMemoryVectorStore();
    model = new CountingEmbeddingModel();
  });

  it('stores the chunks of documents with their vectors, places and metadata', async () => {
    const text = textOf('one', 'two');

    const report = await run([{ id: 'a', text, metadata: { title: 'A', lang: 'en' } }]).report();

    expect(report).to.deep.equal({ ...NOTHING, added: 1, chunks: 2, embedded: 2 });
    const chunks = await store.list('n', { filter: { chunk: 1 }, withVectors: true });
    const [{ text: part, metadata = {}, vector } = { text: '' }] = chunks;
    expect(part).to.equal(text.slice(Number(metadata['start']), Number(metadata['end'])));
    expect(metadata).to.deep.include({ document: 'a', title: 'A', headings: ['Section 1'] });
    expect(vector).to.have.length(8);
    expect(model.texts[1]).to.match(/^A > Section 1\n\n# Section 1\n\ntwo two two/);
  });

  it('embeds and writes nothing when nothing has changed', async () => {
    const documents = documentsOf({ a: textOf('one', 'two'), b: textOf('three') });
    await run(documents).report();
    const before = await stateOf(store);

    const report = await run(documents).report();

    expect(report).to.deep.equal({ ...NOTHING, unchanged: 2 });
    expect(model.texts).to.have.length(3);
    expect(await stateOf(store)).to.deep.equal(before);
  });

  it('embeds the changed chunks of a changed document alone', async () => {
    await run(documentsOf({ a: textOf('one', 'two', 'three'), b: textOf('four') })).report();
    model.requests.length = 0;
    const changed = documentsOf({ a: textOf('one', 'TWO', 'three'), b: textOf('four') });

    const report = await run(changed).report();

    expect(report).to.deep.equal({ ...NOTHING, changed: 1, unchanged: 1, chunks: 3, embedded: 1 });
    expect(model.texts).to.have.length(1);
    expect(model.texts[0]).to.include('TWO');
    expect(await stateOf(store)).to.deep.equal(await fresh(changed));
  });

  it('embeds nothing for changed metadata', async () => {
    await run([{ id: 'a', text: 'one', metadata: { lang: 'en' } }]).report();

    const report = await run([{ id: 'a', text: 'one', metadata: { lang: 'de' } }]).report();

    expect(report).to.deep.equal({ ...NOTHING, changed: 1, chunks: 1 });
    expect((await store.list('n'))[0]?.metadata).to.include({ lang: 'de' });
  });

  it('deletes documents that are gone, and keeps them with removeMissing: false', async () => {
    await run(documentsOf({ a: 'one', b: 'two' })).report();

    const kept = await run(documentsOf({ a: 'one' }), { removeMissing: false }).report();
    const deleted = await run(documentsOf({ a: 'one' })).report();

    expect([kept.deleted, deleted.deleted]).to.deep.equal([0, 1]);
    expect(await textsOf()).to.deep.equal(['one']);
  });

  it('leaves documents that no ingest has stored, and other namespaces', async () => {
    await store.upsert('n', [{ id: 'own', text: 'own', vector: new Float32Array(8).fill(1) }]);
    await run(documentsOf({ b: 'two' }), { namespace: 'm' }).report();

    await run(documentsOf({ a: 'one' })).report();
    await run([]).report();

    expect(await textsOf()).to.deep.equal(['own']);
    expect(await store.list('m')).to.have.length(1);
  });

  it('reports documents without text, and removes the chunks that they had', async () => {
    await run(documentsOf({ a: 'one', b: 'two' })).report();

    const report = await run(documentsOf({ a: ' \n', b: 'two', c: '' })).report();

    expect(report).to.deep.equal({ ...NOTHING, empty: 2, unchanged: 1 });
    expect(await textsOf()).to.deep.equal(['two']);
  });

  it('takes async sources, and emits an event for each document before the report', async () => {
    async function* source() {
      yield* documentsOf({ a: 'one', b: 'two' });
    }
    const events: IngestEvent[] = [];

    for await (const event of run(source())) events.push(event);

    expect(events).to.deep.equal([
      { type: 'document', id: 'a', outcome: 'added', chunks: 1 },
      { type: 'document', id: 'b', outcome: 'added', chunks: 1 },
      { type: 'report', report: { ...NOTHING, added: 2, chunks: 2, embedded: 2 } },
    ]);
  });

  it('does nothing until it is subscribed to', async () => {
    run(documentsOf({ a: 'one' }));

    await new Promise(setImmediate);
    expect(model.requests).to.have.length(0);
    expect(await textsOf()).to.deep.equal([]);
  });

  it('asks for at most batchSize texts in a request, and for equal texts of a batch once', async () => {
    const sections = Array.from({ length: 7 }, (_, at) => `word${at}`);
    const documents = documentsOf({ a: textOf(...sections), b: 'same', c: 'same' });

    await run(documents, { batchSize: 3, concurrency: 1 }).report();

    expect(model.requests.map(({ length }) => length)).to.deep.equal([3, 3, 1, 1]);
  });

  it('embeds at most `concurrency` batches at once', async () => {
    let [running, most] = [0, 0];
    model.before = async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
    };

    await run(many(12), { batchSize: 1, concurrency: 3 }).report();

    expect(most).to.equal(3);
  });

  it('stores the other documents of a batch when the embedding of one fails', async () => {
    model.before = (texts) => {
      if (texts.includes('bad')) throw new Error('refused');
    };

    const report = await run(documentsOf({ a: 'one', b: 'bad', c: 'three' })).report();

    expect(report.added).to.equal(2);
    expect(report.failed.map(({ id, error }) => [id, (error as Error).message])).to.deep.equal([
      ['b', 'refused'],
    ]);
    expect(await textsOf()).to.have.members(['one', 'three']);
  });

  it('keeps the previous chunks of a document that fails', async () => {
    await run(documentsOf({ a: 'one', b: 'two' })).report();
    model.before = () => {
      throw new Error('refused');
    };

    const report = await run(documentsOf({ a: 'changed', b: 'two' })).report();

    expect(report.failed).to.have.length(1);
    expect(await textsOf()).to.have.members(['one', 'two']);
  });

  it('reports a wrong number of vectors', async () => {
    model.embed = async () => ({ vectors: [], usage: undefined, model: undefined });

    const report = await run(documentsOf({ a: 'one' })).report();

    expect(report.failed[0]?.error).to.have.property('code', 'model_call');
  });

  it('ends when more documents fail than maxFailures, with the report, and deletes nothing', async () => {
    await run(documentsOf({ z: 'last' })).report();
    model.before = () => {
      throw new Error('no credit');
    };

    const error = await errorOf(run(many(20), { maxFailures: 2, batchSize: 1 }).report());

    expect(error).to.include({ code: 'ingest', reason: 'failures' });
    expect(error.message).to.include('no credit');
    expect(error.report.failed).to.have.length(3);
    expect(await textsOf()).to.deep.equal(['last']);
  });

  it('keeps what a source gave before it failed, and deletes nothing', async () => {
    await run(documentsOf({ a: 'one', z: 'last' })).report();
    async function* source() {
      yield* documentsOf({ b: 'two' });
      throw new Error('the folder is gone');
    }

    const error = await errorOf(run(source()).report());

    expect(error.reason).to.equal('source');
    expect(error.report).to.include({ added: 1, deleted: 0 });
    expect(await textsOf()).to.have.members(['one', 'last', 'two']);
  });

  it('refuses another embedding model or splitter, and asks no model', async () => {
    await run(documentsOf({ a: 'one' })).report();
    const other = new CountingEmbeddingModel('other 4', 4);

    const ofModel = await errorOf(run([], { embeddingModel: other }).report());
    const ofSplitter = await errorOf(run([], { splitter: new TextSplitter() }).report());

    expect([ofModel.reason, ofSplitter.reason]).to.deep.equal(['settings', 'settings']);
    expect(ofModel.message).to.include('counting 8').and.to.include('other 4');
    expect(await textsOf()).to.deep.equal(['one']);
    expect(other.requests).to.have.length(0);
  });

  it('rebuilds with rebuild: true, never mixed', async () => {
    await run(documentsOf({ a: 'one', b: 'two' })).report();
    const other = new CountingEmbeddingModel('other 4', 4);
    const options = { embeddingModel: other, rebuild: true };

    const report = await run(documentsOf({ a: 'one' }), options).report();

    expect(report).to.deep.include({ added: 1, embedded: 1 });
    expect((await stateOf(store)).map(({ vector }) => vector?.length)).to.deep.equal([4]);
  });

  it('refuses an embedding model without an id, and unknown options', () => {
    expect(() => run([], { embeddingModel: { embed: async () => ({}) as never } })).to.throw(
      InvalidArgumentError,
      'ingest: embeddingModel.id must be a non-blank string',
    );
    expect(() => run([], { embed: model } as object)).to.throw(InvalidArgumentError, 'embed');
    expect(() => run('text' as never)).to.throw(InvalidArgumentError, 'source');
  });

  it('reports ids that a store cannot keep and ids that occur twice, and stores the rest', async () => {
    const long = 'x'.repeat(600);
    const ids = ['a', 'a', '', 'nul\0', 'half\ud800', '__proto__', long, '#?% ü漢'];

    const report = await run(ids.map((id, at) => ({ id, text: `text of ${at}` }))).report();

    expect(report.added).to.equal(3);
    expect(report.failed.map(({ id }) => id)).to.deep.equal(['a', '', 'nul\0', 'half\ud800', long]);
    for (const { error } of report.failed) expect(error).to.be.instanceOf(InvalidArgumentError);
  });

  it('stores texts with NUL, unpaired surrogates and strange metadata once', async () => {
    const metadata = JSON.parse('{"__proto__":"x","constructor":"y","documentHash":"z"}') as object;
    const documents = [{ id: 'a', text: 'a\0b\ud800c', metadata: metadata as never }];
    await run(documents).report();

    const report = await run(documents).report();

    expect(report).to.deep.equal({ ...NOTHING, unchanged: 1 });
    const [chunk] = await store.list('n');
    expect(chunk?.text).to.equal('a\ufffdb\ufffdc');
    expect(Object.keys(chunk?.metadata ?? {})).to.include('__proto__');
  });

  it('reports a document whose metadata the store refuses', async () => {
    const documents = [
      { id: 'a', text: 'one', metadata: { and: 'x' } },
      { id: 'b', text: 'two' },
    ];

    const report = await run(documents).report();

    expect(report.added).to.equal(1);
    expect(report.failed.map(({ id }) => id)).to.deep.equal(['a']);
  });

  it('fills a keyword index without an embedding model', async () => {
    const index = new KeywordIndex();
    const options = { store: index, namespace: 'n', splitter };
    const documents = documentsOf({ a: textOf('rome', 'paris'), b: textOf('berlin') });
    await ingest(documents, options).report();

    const second = await ingest(documents, options).report();
    const [found] = await index.search('n', { text: 'berlin', topK: 1 });

    expect(second).to.deep.equal({ ...NOTHING, unchanged: 2 });
    expect(found?.metadata).to.include({ document: 'b', chunk: 0 });
  });
});
