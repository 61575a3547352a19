import { expect } from 'chai';
import {
  InMemoryVectorStore,
  InvalidArgumentError,
  ModelCallError,
  VectorToolIndex,
  type EmbeddingModel,
  type EmbeddingResponse,
  type ToolReference,
  type Vector,
  type VectorEntry,
  type VectorMatch,
  type VectorQuery,
  type VectorStore,
  type VectorToolIndexOptions,
} from '../../src/index.js';
import { itKeepsTheLawsOfAToolIndex, namesOf, tool } from './tool-index-laws.js';

type Run = Parameters<EmbeddingModel['embed']>[1];

const DIMENSIONS = 64;

/** The words of a text, hashed. */
function bagOfWords(text: string): Vector {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = 7;
    for (const character of word) hash = (hash * 31 + (character.codePointAt(0) as number)) % 1_000_003;
    const place = hash % DIMENSIONS;
    vector[place] = (vector[place] as number) + 1;
  }
  return vector;
}

/** Keeps what it is asked; fails and waits where it is told to. */
class WordModel implements EmbeddingModel {
  readonly asked: (readonly string[])[] = [];
  readonly runs: Run[] = [];
  failure: Error | undefined;
  gate: Promise<void> | undefined;

  constructor(private readonly vectorOf: (text: string) => Vector = bagOfWords) {}

  async embed(texts: readonly string[], run?: Run): Promise<EmbeddingResponse> {
    this.asked.push(texts);
    this.runs.push(run);
    await this.gate;
    if (this.failure) throw this.failure;
    return { vectors: texts.map(this.vectorOf), usage: undefined, model: 'words' };
  }
}

/** Keeps what it is asked, and knows which namespaces there are. */
class WatchedStore implements VectorStore {
  readonly upserts: (readonly [namespace: string, entries: readonly VectorEntry[]])[] = [];
  readonly searches: (readonly [namespace: string, query: VectorQuery, run: Run])[] = [];
  readonly deletes: string[] = [];
  readonly namespaces = new Set<string>();
  failure: Error | undefined;
  private readonly store = new InMemoryVectorStore();

  async upsert(namespace: string, entries: readonly VectorEntry[]): Promise<void> {
    this.upserts.push([namespace, entries]);
    if (this.failure) throw this.failure;
    this.namespaces.add(namespace);
    await this.store.upsert(namespace, entries);
  }

  async search(namespace: string, query: VectorQuery, run?: Run): Promise<readonly VectorMatch[]> {
    this.searches.push([namespace, query, run]);
    if (this.failure) throw this.failure;
    return this.store.search(namespace, query);
  }

  async delete(namespace: string, ids?: readonly string[]): Promise<void> {
    expect(ids).to.equal(undefined);
    this.deletes.push(namespace);
    if (this.failure) throw this.failure;
    this.namespaces.delete(namespace);
    await this.store.delete(namespace);
  }
}

/** Most sets of tools that an index keeps without a session. */
const MOST_IDLE = 8;

const errorOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );

itKeepsTheLawsOfAToolIndex('VectorToolIndex', () => new VectorToolIndex({ embeddingModel: new WordModel() }));

describe('VectorToolIndex', () => {
  const weather = tool('read_weather', 'Tells the weather.', {
    inputSchema: { type: 'object', properties: { town: { type: 'string', description: 'Where it rains' } } },
  });
  const email = tool('send_email', 'Sends an email.', { category: 'Office' });
  const music = tool('play_music', 'Plays music.');
  const failure = new Error('out of order');
  let embeddingModel: WordModel;
  let vectorStore: WatchedStore;
  let index: VectorToolIndex;

  const create = (options: Partial<VectorToolIndexOptions> = {}): VectorToolIndex =>
    new VectorToolIndex({ embeddingModel, vectorStore, ...options });
  const setOf = (at: number): readonly ToolReference[] => [tool(`tool_${at}`, 'Does it.')];

  beforeEach(() => {
    embeddingModel = new WordModel();
    vectorStore = new WatchedStore();
    index = create();
  });

  it('[TST-23] embeds name, description and parameters of a tool, and stores one entry', async () => {
    await index.index({ session: 's', references: [weather] });

    expect(embeddingModel.asked).to.have.lengthOf(1);
    expect(embeddingModel.asked[0]).to.have.lengthOf(1);
    for (const part of ['read_weather', 'Tells the weather.', 'town', 'Where it rains'])
      expect(embeddingModel.asked[0]?.[0]).to.include(part);
    expect(vectorStore.upserts.map(([, entries]) => entries)).to.deep.equal([
      [{ id: '0', vector: bagOfWords(embeddingModel.asked[0]?.[0] as string) }],
    ]);
  });

  it('[TST-25] asks model and store once for all tools', async () => {
    await index.index({ session: 's', references: [weather, email, music] });

    expect(embeddingModel.asked.map(({ length }) => length)).to.deep.equal([3]);
    expect(vectorStore.upserts.map(([, entries]) => entries.map(({ id, metadata }) => [id, metadata]))).to.deep.equal([
      [
        ['0', undefined],
        ['1', { category: 'office' }],
        ['2', undefined],
      ],
    ]);
  });

  it('asks model and store once for a thousand sessions', async () => {
    for (let at = 0; at < 1_000; at++) await index.index({ session: `s${at}`, references: structuredClone([weather, email]) });

    expect([embeddingModel.asked.length, vectorStore.upserts.length]).to.deep.equal([1, 1]);
  });

  it('[TST-29] [TST-32] [TST-33] asks the store for the nearest of the session, and gives all with their scores', async () => {
    await index.index({ session: 't', references: [music] });
    await index.index({ session: 's', references: [music, weather, tool('weather')] });

    const found = await index.search({ session: 's', query: 'weather', maxResults: 5 });
    await index.search({ session: 's', query: 'weather' });

    expect(found.references.map(({ name, score }) => [name, typeof score])).to.deep.equal([
      ['weather', 'number'],
      ['read_weather', 'number'],
    ]);
    expect(found.references[0]?.score).to.be.closeTo(1, 1e-6);
    const asked = vectorStore.searches.map(([namespace, { vector, topK, filter }]) => [namespace, [...vector], topK, filter]);
    const namespace = vectorStore.upserts[1]?.[0];
    expect(asked).to.deep.equal([5, 10].map((topK) => [namespace, [...bagOfWords('weather')], topK, undefined]));
  });

  it('narrows in the store', async () => {
    await index.index({ session: 's', references: [weather, email] });

    expect(await namesOf(index, { query: 'email', category: 'OFFICE' })).to.deep.equal(['send_email']);
    expect(vectorStore.searches[0]?.[1].filter).to.deep.equal({ category: 'office' });
  });

  it('[TST-31] finds nothing where the store finds nothing', async () => {
    await index.index({ session: 's', references: [weather] });
    vectorStore.search = async () => [];

    expect(await namesOf(index, 'weather')).to.deep.equal([]);
  });

  it('[TST-27] asks nobody to forget a session that it does not know, nor to search in it', async () => {
    await index.clear('unknown');
    await index.search({ session: 'unknown', query: 'weather' });

    expect([vectorStore.deletes, vectorStore.searches, embeddingModel.asked]).to.deep.equal([[], [], []]);
  });

  it('asks nobody for a blank query, nor for no tools', async () => {
    await index.index({ session: 's', references: [] });
    await index.index({ session: 's', references: [weather] });

    expect(await namesOf(index, ' ')).to.deep.equal(['read_weather']);
    expect([embeddingModel.asked.length, vectorStore.searches.length]).to.deep.equal([1, 0]);
  });

  it('waits in a search for the tools that are being stored', async () => {
    const [indexed, found] = await Promise.all([index.index({ session: 's', references: [weather] }), namesOf(index, 'weather')]);

    expect([indexed, found]).to.deep.equal([undefined, ['read_weather']]);
  });

  it('searches for the beginning of a very long query, in whole characters', async () => {
    await index.index({ session: 's', references: [tool('a', `${'x'.repeat(5_997)}\u{1F600}`)] });
    await index.search({ session: 's', query: `${'x'.repeat(5_999)}\u{1F600}` });

    for (const [text] of embeddingModel.asked) expect(text).to.match(/x$/).and.to.have.lengthOf.within(5_999, 6_000);
  });

  describe('minScore', () => {
    const vectors: Readonly<Record<string, readonly number[]>> = { near: [1, 0.1], far: [0.3, 1], opposite: [-1, 0], query: [1, 0] };
    const vectorOf = (text: string): Vector => new Float32Array(vectors[text.split('\n')[0] as string] ?? []);

    for (const [minScore, ...names] of [[undefined, 'near', 'far'], [-1, 'near', 'far', 'opposite'], [0.5, 'near'], [1]] as const)
      it(`of ${minScore} leaves ${names.join(', ') || 'nothing'}`, async () => {
        const limited = create({ embeddingModel: new WordModel(vectorOf), minScore });
        await limited.index({ session: 's', references: [tool('opposite'), tool('far'), tool('near')] });

        expect(await namesOf(limited, 'query')).to.deep.equal(names);
      });
  });

  describe('the cache', () => {
    it('embeds of a changed set only what is new', async () => {
      await index.index({ session: 's', references: [weather, email] });
      await index.index({ session: 's', references: [email, music, structuredClone(weather)] });

      expect(embeddingModel.asked.map((texts) => texts.map((text) => text.split('\n')[0]))).to.deep.equal([
        ['read_weather', 'send_email'],
        ['play_music'],
      ]);
      expect((await namesOf(index, 'weather'))[0]).to.equal('read_weather');
      expect((await namesOf(index, 'music'))[0]).to.equal('play_music');
    });

    it('embeds a text once that several tools have', async () => {
      await index.index({ session: 's', references: [weather, { ...weather, category: 'twin' }] });

      expect(embeddingModel.asked.map(({ length }) => length)).to.deep.equal([1]);
      expect(await namesOf(index, 'weather')).to.deep.equal(['read_weather', 'read_weather']);
    });

    it('asks nobody if it has all texts', async () => {
      await index.index({ session: 's', references: [weather, email] });
      await index.index({ session: 's', references: [email] });

      expect(embeddingModel.asked).to.have.lengthOf(1);
    });

    it('of 0 embeds everything again', async () => {
      index = create({ maxCachedVectors: 0 });
      await index.index({ session: 's', references: [weather, email] });
      await index.index({ session: 's', references: [email] });

      expect(embeddingModel.asked.map(({ length }) => length)).to.deep.equal([2, 1]);
      expect(await namesOf(index, 'email')).to.deep.equal(['send_email']);
    });

    it('forgets the texts that were not used for longest', async () => {
      index = create({ maxCachedVectors: 2 });
      for (const references of [[weather], [email], [weather, tool('one_more')], [weather, music], [email, weather]])
        await index.index({ session: 's', references });

      expect(embeddingModel.asked.map((texts) => texts.map((text) => text.split('\n')[0]))).to.deep.equal([
        ['read_weather'],
        ['send_email'],
        ['one_more'],
        ['play_music'],
        ['send_email'],
      ]);
    });
  });

  describe('when something fails', () => {
    for (const part of ['model', 'store'] as const)
      it(`with the ${part} finds nothing, and tries again with the next index`, async () => {
        await index.index({ session: 's', references: [email] });
        const broken = part === 'model' ? embeddingModel : vectorStore;
        broken.failure = failure;
        const request = { session: 's', references: [email, weather] };

        expect(await errorOf(index.index(request))).to.equal(failure);
        expect(await errorOf(index.index(request))).to.equal(failure);
        broken.failure = undefined;
        expect(await namesOf(index, 'email')).to.deep.equal([]);
        expect(await namesOf(index, '')).to.deep.equal([]);

        await index.index(request);
        expect(await namesOf(index, 'weather')).to.deep.equal(['read_weather']);
      });

    it('tells every session that waited for it, and those with other tools nothing', async () => {
      await index.index({ session: 'other', references: [music] });
      embeddingModel.failure = failure;
      const attempts = ['s', 't'].map((session) => errorOf(index.index({ session, references: [weather] })));
      const searched = errorOf(index.search({ session: 's', query: 'weather' }));

      expect(await Promise.all([...attempts, searched])).to.deep.equal([failure, failure, failure]);
      embeddingModel.failure = undefined;
      expect(await namesOf(index, { session: 'other', query: 'music' })).to.deep.equal(['play_music']);
    });

    it('does not take a wrong number of vectors', async () => {
      embeddingModel.embed = async () => ({ vectors: [bagOfWords('a')], usage: undefined, model: undefined });

      expect(await errorOf(index.index({ session: 's', references: [weather, email] }))).to.be.instanceOf(ModelCallError);
      expect(await namesOf(index, '')).to.deep.equal([]);
    });

    it('does not take an answer without a vector for a query', async () => {
      await index.index({ session: 's', references: [weather] });
      embeddingModel.embed = async () => ({ vectors: [], usage: undefined, model: undefined });

      expect(await errorOf(index.search({ session: 's', query: 'weather' }))).to.be.instanceOf(ModelCallError);
    });

    it('fails a search, but not the next', async () => {
      await index.index({ session: 's', references: [weather] });
      for (const broken of [embeddingModel, vectorStore]) {
        broken.failure = failure;
        expect(await errorOf(index.search({ session: 's', query: 'weather' }))).to.equal(failure);
        broken.failure = undefined;
      }

      expect(await namesOf(index, 'weather')).to.deep.equal(['read_weather']);
    });

    it('leaves no namespace behind of what was stored half', async () => {
      vectorStore.failure = failure;
      await errorOf(index.index({ session: 's', references: [weather] }));
      vectorStore.failure = undefined;
      await index.clear('s');

      expect([...new Set(vectorStore.deletes)]).to.deep.equal(vectorStore.upserts.map(([namespace]) => namespace));
    });

    it('asks the store again to delete what it failed to', async () => {
      for (let at = 0; at <= MOST_IDLE; at++) await index.index({ session: `s${at}`, references: setOf(at) });
      for (let at = 0; at < MOST_IDLE; at++) await index.clear(`s${at}`);
      vectorStore.failure = failure;
      expect(await errorOf(index.clear(`s${MOST_IDLE}`))).to.equal(failure);
      vectorStore.failure = undefined;
      await index.clear('s0');
      await index.clear('s0');

      const [first] = vectorStore.upserts.map(([namespace]) => namespace);
      expect(vectorStore.deletes).to.deep.equal([first, first]);
    });
  });

  describe('the store', () => {
    it('[TST-28] is told once to delete each set that nobody can search', async () => {
      for (let at = 0; at < 20; at++) {
        await index.index({ session: 's', references: setOf(at) });
        await index.clear('s');
      }

      expect(vectorStore.deletes).to.deep.equal(vectorStore.upserts.slice(0, 20 - MOST_IDLE).map(([namespace]) => namespace));
    });

    it('keeps what another session has', async () => {
      await index.index({ session: 'kept', references: [weather] });
      for (let at = 0; at < 20; at++) {
        await index.index({ session: 's', references: at % 2 === 0 ? [weather] : setOf(at) });
        await index.clear('s');
      }

      expect(await namesOf(index, { session: 'kept', query: 'weather' })).to.deep.equal(['read_weather']);
    });

    it('embeds a text once that many sessions ask for at the same time', async () => {
      const sessions = Array.from({ length: 30 }, (_, at) => `s${at}`);
      await Promise.all(sessions.map((session) => index.index({ session, references: [weather, email, tool(`own_${session}`)] })));

      expect(embeddingModel.asked.flat()).to.have.lengthOf(2 + sessions.length);
    });

    it('does not wait for other sessions', async () => {
      let open = (): void => undefined;
      embeddingModel.gate = new Promise((resolve) => (open = resolve));
      const slow = index.index({ session: 'slow', references: [weather] });
      const cleared = index.clear('slow');
      embeddingModel.gate = undefined;
      await index.index({ session: 'quick', references: [email] });
      await index.clear('another');

      expect(await namesOf(index, { session: 'quick', query: '' })).to.deep.equal(['send_email']);
      open();
      await Promise.all([slow, cleared]);
    });

    it('embeds no blank text', async () => {
      await index.index({ session: 's', references: [weather] });
      await namesOf(index, `${' '.repeat(10_000)}weather`);

      expect(embeddingModel.asked.at(-1)).to.deep.equal(['weather']);
    });

    it('keeps few sets of a session whose tools change all the time', async () => {
      for (let at = 0; at < 100; at++) await index.index({ session: 's', references: setOf(at) });

      expect(vectorStore.namespaces.size).to.be.at.most(MOST_IDLE + 2);
    });

    it('[TST-35] keeps few sets of a session that was indexed many times at once', async () => {
      await Promise.all(Array.from({ length: 20 }, (_, at) => index.index({ session: 's', references: setOf(at) })));
      expect(await namesOf(index, '')).to.deep.equal(['tool_19']);
      await index.clear('s');

      expect(await namesOf(index, '')).to.deep.equal([]);
      expect(vectorStore.namespaces.size).to.be.at.most(MOST_IDLE);
    });

    it('[TST-35] keeps few sets of sessions that are forgotten while they are embedded', async () => {
      let open = (): void => undefined;
      embeddingModel.gate = new Promise((resolve) => (open = resolve));
      const sessions = Array.from({ length: 20 }, (_, at) => `s${at}`);
      const indexed = sessions.map((session, at) => index.index({ session, references: setOf(at) }));
      const cleared = sessions.map((session) => index.clear(session));
      open();
      await Promise.all([...indexed, ...cleared]);
      await index.clear('s0');

      expect(vectorStore.namespaces.size).to.be.at.most(MOST_IDLE);
    });

    it('[F84] is shared by indexes that do not see each other', async () => {
      const another = create();
      await index.index({ session: 's', references: [weather] });
      await another.index({ session: 's', references: [weather, tool('secret_weather')] });

      expect(await namesOf(index, 'weather')).to.deep.equal(['read_weather']);
      expect(vectorStore.namespaces.size).to.equal(2);
    });
  });

  it('gives the signal of a search to model and store', async () => {
    const { signal } = new AbortController();
    await index.index({ session: 's', references: [weather] });
    await index.search({ session: 's', query: 'weather', signal });

    expect(embeddingModel.runs.at(-1)?.signal).to.equal(signal);
    expect(vectorStore.searches[0]?.[2]?.signal).to.equal(signal);
  });

  it('fails a search as the model does that sees the abort', async () => {
    const controller = new AbortController();
    await index.index({ session: 's', references: [weather] });
    embeddingModel.embed = async (_texts, run) => {
      controller.abort(failure);
      run?.signal?.throwIfAborted();
      return { vectors: [bagOfWords('weather')], usage: undefined, model: undefined };
    };

    expect(await errorOf(index.search({ session: 's', query: 'weather', signal: controller.signal }))).to.equal(failure);
    expect(vectorStore.searches).to.deep.equal([]);
  });

  for (const [option, value] of [
    ['embeddingModel', undefined],
    ['embeddingModel', {}],
    ['vectorStore', {}],
    ['vectorStore', null],
    ['minScore', 1.1],
    ['minScore', -1.1],
    ['minScore', Number.NaN],
    ['minScore', 'high'],
    ['maxCachedVectors', -1],
    ['maxCachedVectors', Number.NaN],
  ] as const)
    it(`refuses ${option}: ${JSON.stringify(value) ?? 'nothing'}${Number.isNaN(value) ? ' (not a number)' : ''}`, () => {
      expect(() => create({ [option]: value } as never)).to.throw(InvalidArgumentError, `VectorToolIndex: ${option} must be`);
    });

  it('refuses to be made of nothing', () => {
    expect(() => new VectorToolIndex(undefined as never)).to.throw(InvalidArgumentError, 'embeddingModel');
  });
});
