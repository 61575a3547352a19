import { expect } from 'chai';
import type { Document } from '../../../src/core/chat/document.js';
import { CancelledError } from '../../../src/core/errors/errors.js';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import { failureOf } from '../../support/modes.js';

/** Four chunks. */
const COUNT = 4 * 4_096;

function documentOf(at: number, text = 'old'): Document {
  const angle = (at / COUNT) * Math.PI;
  return {
    id: `${at}`,
    text,
    vector: new Float32Array([Math.cos(angle), Math.sin(angle)]),
    metadata: { even: at % 2 === 0 },
  };
}

describe('A long search of an InMemoryVectorStore', () => {
  const { now } = Date;
  const query = { vector: new Float32Array([1, 0]), topK: COUNT };
  let store: InMemoryVectorStore;
  let time = 0;

  beforeEach(async () => {
    store = new InMemoryVectorStore();
    await store.upsert(
      'n',
      Array.from({ length: COUNT }, (_, at) => documentOf(at)),
    );
    // each chunk takes six milliseconds, so that every second one waits for a task
    Date.now = () => (time += 6);
  });

  afterEach(() => {
    Date.now = now;
  });

  it('lets others work meanwhile, and sees the documents as they were when it began', async () => {
    const before = await store.search('n', query);
    const search = store.search('n', query);
    let isDone = false;
    const end = search.then(() => (isDone = true));

    await store.delete('n', { even: true });
    await store.upsert('n', [documentOf(COUNT - 1, 'new'), documentOf(COUNT, 'new')]);
    await new Promise(setImmediate);
    expect(isDone).to.equal(false);
    await store.clear('n');
    await store.upsert('n', [documentOf(3, 'new')]);
    await end;

    const ids = Array.from({ length: COUNT }, (_, at) => `${at}`).join();
    expect(before.map(({ id }) => id).join()).to.equal(ids);
    expect(JSON.stringify(await search)).to.equal(JSON.stringify(before));
    expect((await store.search('n', query)).map(({ id, text }) => [id, text])).to.deep.equal([
      ['3', 'new'],
    ]);
  });

  it('ends with its signal', async () => {
    const controller = new AbortController();
    const search = failureOf(store.search('n', query, { signal: controller.signal }));

    controller.abort('enough');

    const error = await search;
    expect(error).to.be.instanceOf(CancelledError);
    expect((error as Error).cause).to.equal('enough');
  });

  it('keeps what was written while it ran', async () => {
    const search = store.search('n', query);
    await store.upsert('n', [documentOf(5, 'new'), documentOf(COUNT + 1, 'new')]);
    await store.delete('n', ['6']);
    await search;

    const texts = new Map((await store.list('n')).map(({ id, text }) => [id, text]));
    expect([texts.get('5'), texts.get('6'), texts.get(`${COUNT + 1}`)]).to.deep.equal([
      'new',
      undefined,
      'new',
    ]);
    expect(texts.size).to.equal(COUNT);
  });
});
