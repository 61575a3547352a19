import { expect } from 'chai';
import { CancelledError, InMemoryVectorStore, InvalidArgumentError } from '../../src/index.js';
import {
  TextSplitter,
  withNeighbours,
  type Document,
  type DocumentMetadata,
  type ListQuery,
  type NeighboursOptions,
} from '../../src/knowledge/index.js';
import { failureOf } from '../support/modes.js';
import { idsOf, queryOf } from '../support/queries.js';

const TEXT = 'One. Two. Three. Four. Five. Six. ';
const QUERY = queryOf('Where is Rome?');
const ENDS = [5, 10, 17, 23, 29, 34];

/** The chunks of a document, one for each sentence, that begin `overlap` characters earlier. */
function chunksOf(document: string, overlap = 0, metadata: DocumentMetadata = {}): Document[] {
  return ENDS.map((end, chunk) => {
    const start = Math.max(0, (ENDS[chunk - 1] ?? 0) - overlap);
    const text = TEXT.slice(start, end);
    return {
      id: `${document}#${chunk}`,
      text,
      metadata: { ...metadata, document, chunk, start, end },
    };
  });
}

async function storeOf(...documents: readonly Document[]): Promise<InMemoryVectorStore> {
  const store = new InMemoryVectorStore();
  const vector = Float32Array.of(1);
  await store.upsert(
    'docs',
    documents.map((each) => ({ ...each, vector })),
  );
  return store;
}

/** Chunks of a list as a retriever returns them. */
const found = (chunks: readonly Document[], ...numbers: readonly number[]): Document[] =>
  numbers.map((number, at) => ({ ...(chunks[number] as Document), score: 1 - at / 10 }));
const textsOf = (documents: readonly Document[]): readonly string[] =>
  documents.map(({ text }) => text);

describe('withNeighbours', () => {
  const chunks = chunksOf('a');
  const add = async (numbers: readonly number[], options: Partial<NeighboursOptions> = {}) =>
    withNeighbours({ store: await storeOf(...chunks), ...options })(
      found(chunks, ...numbers),
      QUERY,
    );

  it('adds the chunk before and the chunk after, with the offsets of the whole', async () => {
    const [whole, ...others] = await add([2]);

    expect(whole).to.deep.equal({
      ...found(chunks, 2)[0],
      text: 'Two. Three. Four. ',
      metadata: { document: 'a', chunk: 2, start: 5, end: 23 },
    });
    expect(others).to.deep.equal([]);
  });

  it('adds other numbers of chunks', async () => {
    expect(textsOf(await add([2], { before: 0, after: 2 }))).to.deep.equal(['Three. Four. Five. ']);
    expect(textsOf(await add([2], { before: 0, after: 0 }))).to.deep.equal(['Three. ']);
  });

  it('ends at the ends of the document', async () => {
    const documents = await add([0, 5]);

    expect(textsOf(documents)).to.deep.equal(['One. Two. ', 'Five. Six. ']);
  });

  it('makes one document of chunks that follow each other, in the place of the best', async () => {
    const documents = await add([5, 0, 4]);

    expect(idsOf(documents)).to.deep.equal(['a#5', 'a#0']);
    expect(textsOf(documents)).to.deep.equal(['Four. Five. Six. ', 'One. Two. ']);
  });

  it('has a text that two chunks overlap in once', async () => {
    const overlapping = chunksOf('a', 3);
    const store = await storeOf(...overlapping);

    const [whole] = await withNeighbours({ store })(found(overlapping, 2), QUERY);

    expect(whole?.text).to.equal(TEXT.slice(2, 23));
    expect(whole?.metadata).to.include({ start: 2, end: 23 });
  });

  it('has white space in place of a text that no chunk has', async () => {
    const gaps = chunks.map(({ text, metadata, ...rest }) => {
      const { end, ...place } = metadata as DocumentMetadata & { readonly end: number };
      return { ...rest, text: text.trimEnd(), metadata: { ...place, end: end - 1 } };
    });
    const store = await storeOf(...gaps);

    const [whole] = await withNeighbours({ store })(found(gaps, 1), QUERY);

    expect(whole?.text).to.equal('One.\nTwo.\nThree.');
    expect(whole?.metadata).to.include({ start: 0, end: 16 });
  });

  it('has a chunk that lies within the one before once', async () => {
    const place = (start: number, end: number, chunk: number): Document => {
      const metadata = { document: 'a', chunk, start, end };
      return { id: `a#${chunk}`, text: TEXT.slice(start, end), metadata };
    };
    const nested = [place(0, 17, 0), place(5, 10, 1), place(10, 23, 2)];
    const store = await storeOf(...nested);

    const [whole] = await withNeighbours({ store })(found(nested, 1), QUERY);

    expect(whole?.text).to.equal('One. Two. Three. Four. ');
  });

  it('keeps a text that an earlier step has changed, without offsets', async () => {
    const store = await storeOf(...chunks);
    const changed = { ...(chunks[1] as Document), text: 'II.' };

    const [whole] = await withNeighbours({ store })([changed], QUERY);

    expect(whole?.text).to.equal('One. \nII.\nThree. ');
    expect(whole?.metadata).to.deep.equal({ document: 'a', chunk: 1 });
  });

  for (const overlap of [0, 10])
    it(`gives back the text around a chunk of a TextSplitter with the overlap ${overlap}`, async () => {
      const splitter = new TextSplitter({ size: 40, overlap, unit: 'characters' });
      const text = `# Numbers\n\n${TEXT.repeat(3)}\n\n## More\n\n${TEXT}`;
      const split = splitter.split({ id: 'a', text });
      const store = await storeOf(...split);

      const [whole] = await withNeighbours({ store })(found(split, 2), QUERY);

      const { start, end } = whole?.metadata ?? {};
      expect([start, end]).to.deep.equal([
        split[1]?.metadata?.['start'],
        split[3]?.metadata?.['end'],
      ]);
      expect(whole?.text).to.have.lengthOf(Number(end) - Number(start));
      expect(whole?.text.replaceAll(/\s+/g, ' ')).to.equal(
        text.slice(Number(start), Number(end)).replaceAll(/\s+/g, ' '),
      );
    });

  it('joins chunks without offsets by lines', async () => {
    const plain = chunks.map(({ metadata, ...rest }) => {
      const { start: _start, end: _end, ...others } = metadata ?? {};
      return { ...rest, metadata: others };
    });
    const store = await storeOf(...plain);

    const [whole] = await withNeighbours({ store })(found(plain, 1), QUERY);

    expect(whole?.text).to.equal('One. \nTwo. \nThree. ');
    expect(whole?.metadata).to.deep.equal({ document: 'a', chunk: 1 });
  });

  it('does not cross a chunk that is missing', async () => {
    const store = await storeOf(...chunks.filter((_, at) => at !== 2));

    const documents = await withNeighbours({ store, after: 3 })(found(chunks, 1), QUERY);

    expect(textsOf(documents)).to.deep.equal(['One. Two. ']);
  });

  it('keeps chunks of other documents apart, and other documents unchanged', async () => {
    const others = chunksOf('b');
    const memory: Document = { id: 'm', text: 'A memory.', score: 0.1 };
    const store = await storeOf(...chunks, ...others);
    const given = [...found(chunks, 0), memory, ...found(others, 0)];

    const documents = await withNeighbours({ store })(given, QUERY);

    expect(idsOf(documents)).to.deep.equal(['a#0', 'm', 'b#0']);
    expect(documents[1]).to.equal(memory);
    expect(textsOf(documents)).to.deep.equal(['One. Two. ', 'A memory.', 'One. Two. ']);
  });

  it('adds nothing of another namespace, and nothing that the filter of the query excludes', async () => {
    const open = chunks.map((each, at): Document => {
      return { ...each, metadata: { ...each.metadata, isOpen: at < 3 } };
    });
    const store = await storeOf(...open);
    const filter = { isOpen: true };

    const [inside] = await withNeighbours({ store })(found(open, 2), { ...QUERY, filter });
    const [outside] = await withNeighbours({ store })(found(open, 2), { ...QUERY, namespace: 'x' });

    expect([inside?.text, outside?.text]).to.deep.equal(['Two. Three. ', 'Three. ']);
  });

  it('asks the store once, and not for documents that are no chunks', async () => {
    const store = await storeOf(...chunks);
    const queries: unknown[] = [];
    const counting = {
      list: (namespace: string, query?: ListQuery) => {
        queries.push(query);
        return store.list(namespace, query);
      },
    };
    const add = withNeighbours({ store: counting });

    await add(found(chunks, 1, 4), QUERY);
    await add([{ id: 'm', text: 'A memory.' }], QUERY);

    expect(queries).to.have.lengthOf(1);
  });

  it('ends with the run of the query', async () => {
    const controller = new AbortController();
    const store = { list: () => new Promise<never>(() => undefined) };
    const query = { ...QUERY, signal: controller.signal };
    const added = withNeighbours({ store })(found(chunks, 1), query);

    controller.abort();

    expect(await failureOf(Promise.resolve(added))).to.be.instanceOf(CancelledError);
  });

  for (const options of [{}, { store: {} }, { before: -1 }, { after: 0.5 }])
    it(`refuses ${JSON.stringify(options)}`, () => {
      const given = {
        ...('before' in options || 'after' in options ? { store: new InMemoryVectorStore() } : {}),
        ...options,
      };

      expect(() => withNeighbours(given as never)).to.throw(
        InvalidArgumentError,
        'withNeighbours: ',
      );
    });
});
