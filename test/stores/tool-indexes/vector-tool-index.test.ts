import { expect } from 'chai';
import {
  InMemoryVectorStore,
  InvalidArgumentError,
  ModelCallError,
  VectorToolIndex,
  type Document,
  type EmbeddingModel,
  type EmbeddingResponse,
  type Vector,
  type VectorQuery,
  type VectorStore,
  type VectorToolIndexOptions,
} from '../../../src/index.js';
import type { ToolReference } from '../../../advisors/tool-search/index.js';
import {
  itAcceptsLongTexts,
  itKeepsTheLawsOfAToolIndex,
  namesOf,
  tool,
} from '../../support/tool-index-laws.js';
import { failureOf } from '../../support/modes.js';

type Run = Parameters<EmbeddingModel['embed']>[1];

const DIMENSIONS = 64;

/** Embeds a text as the hashes of its words. */
function bagOfWords(text: string): Vector {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = 7;
    for (const character of word)
      hash = (hash * 31 + (character.codePointAt(0) as number)) % 1_000_003;
    const place = hash % DIMENSIONS;
    vector[place] = (vector[place] as number) + 1;
  }
  return vector;
}

/** Records its texts; fails with `failure` and waits for `gate` if they are set. */
class WordModel implements EmbeddingModel {
  readonly texts: (readonly string[])[] = [];
  readonly runs: Run[] = [];
  failure: Error | undefined;
  gate: Promise<void> | undefined;

  constructor(private readonly vectorOf: (text: string) => Vector = bagOfWords) {}

  async embed(texts: readonly string[], run?: Run): Promise<EmbeddingResponse> {
    this.texts.push(texts);
    this.runs.push(run);
    await this.gate;
    if (this.failure) throw this.failure;
    return { vectors: texts.map(this.vectorOf), usage: undefined, model: 'words' };
  }
}

/** Records its calls and its namespaces; fails with `failure` if it is set. */
class WatchedStore extends InMemoryVectorStore implements VectorStore {
  readonly upserts: (readonly [namespace: string, entries: readonly Document[]])[] = [];
  readonly searches: (readonly [namespace: string, query: VectorQuery, run: Run])[] = [];
  readonly deletes: string[] = [];
  readonly stored = new Set<string>();
  failure: Error | undefined;

  override async upsert(namespace: string, entries: readonly Document[]): Promise<void> {
    this.upserts.push([namespace, entries]);
    if (this.failure) throw this.failure;
    this.stored.add(namespace);
    await super.upsert(namespace, entries);
  }

  override async search(
    namespace: string,
    query: VectorQuery,
    run?: Run,
  ): Promise<readonly Document[]> {
    this.searches.push([namespace, query, run]);
    if (this.failure) throw this.failure;
    return super.search(namespace, query);
  }

  override async clear(namespace: string): Promise<void> {
    this.deletes.push(namespace);
    if (this.failure) throw this.failure;
    this.stored.delete(namespace);
    await super.clear(namespace);
  }
}

itKeepsTheLawsOfAToolIndex(
  'VectorToolIndex',
  () => new VectorToolIndex({ embeddingModel: new WordModel() }),
);

itAcceptsLongTexts(
  'VectorToolIndex',
  () => new VectorToolIndex({ embeddingModel: new WordModel() }),
  30_000,
);

describe('VectorToolIndex', () => {
  const weather = tool('read_weather', 'Reads the weather.', {
    inputSchema: {
      type: 'object',
      properties: { town: { type: 'string', description: 'Where it rains' } },
    },
  });
  const email = tool('send_email', 'Sends an email.', { category: 'Office' });
  const music = tool('play_music', 'Plays music.');
  const failure = new Error('unavailable');
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

  it('[TST-23] embeds name, description and parameters of a tool and stores one entry', async () => {
    await index.index({ session: 's', references: [weather] });

    expect(embeddingModel.texts).to.have.lengthOf(1);
    expect(embeddingModel.texts[0]).to.have.lengthOf(1);
    for (const part of ['read_weather', 'Reads the weather.', 'town', 'Where it rains'])
      expect(embeddingModel.texts[0]?.[0]).to.include(part);
    expect(vectorStore.upserts.map(([, entries]) => entries)).to.deep.equal([
      [
        {
          id: '0',
          text: 'read_weather',
          vector: bagOfWords(embeddingModel.texts[0]?.[0] as string),
        },
      ],
    ]);
  });

  it('[TST-25] calls model and store once for all tools', async () => {
    await index.index({ session: 's', references: [weather, email, music] });

    expect(embeddingModel.texts.map(({ length }) => length)).to.deep.equal([3]);
    expect(
      vectorStore.upserts.map(([, entries]) => entries.map(({ id, metadata }) => [id, metadata])),
    ).to.deep.equal([
      [
        ['0', undefined],
        ['1', { category: 'office' }],
        ['2', undefined],
      ],
    ]);
  });

  it('calls model and store once for a thousand sessions with the same tools', async () => {
    for (let at = 0; at < 1_000; at++)
      await index.index({ session: `s${at}`, references: structuredClone([weather, email]) });

    expect([embeddingModel.texts.length, vectorStore.upserts.length]).to.deep.equal([1, 1]);
  });

  it('[TST-29] [TST-32] [TST-33] searches the nearest vectors of the session and returns all with scores', async () => {
    await index.index({ session: 't', references: [music] });
    await index.index({ session: 's', references: [music, weather, tool('weather')] });

    const found = await index.search({ session: 's', query: 'weather', maxResults: 5 });
    await index.search({ session: 's', query: 'weather' });

    expect(found.references.map(({ name, score }) => [name, typeof score])).to.deep.equal([
      ['weather', 'number'],
      ['read_weather', 'number'],
    ]);
    expect(found.references[0]?.score).to.be.closeTo(1, 1e-6);
    const asked = vectorStore.searches.map(([namespace, { vector, topK, filter }]) => [
      namespace,
      [...vector],
      topK,
      filter,
    ]);
    const namespace = vectorStore.upserts[1]?.[0];
    expect(asked).to.deep.equal(
      [5, 10].map((topK) => [namespace, [...bagOfWords('weather')], topK, undefined]),
    );
  });

  it('filters by category in the store', async () => {
    await index.index({ session: 's', references: [weather, email] });

    expect(await namesOf(index, { query: 'email', category: 'OFFICE' })).to.deep.equal([
      'send_email',
    ]);
    expect(vectorStore.searches[0]?.[1].filter).to.deep.equal({ category: 'office' });
  });

  it('[TST-31] returns nothing if the store finds nothing', async () => {
    await index.index({ session: 's', references: [weather] });
    vectorStore.search = async () => [];

    expect(await namesOf(index, 'weather')).to.deep.equal([]);
  });

  it('[TST-27] calls neither model nor store for an unknown session', async () => {
    await index.clear('unknown');
    await index.search({ session: 'unknown', query: 'weather' });

    expect([vectorStore.deletes, vectorStore.searches, embeddingModel.texts]).to.deep.equal([
      [],
      [],
      [],
    ]);
  });

  it('calls neither model nor store for a blank query or an empty list', async () => {
    await index.index({ session: 's', references: [] });
    await index.index({ session: 's', references: [weather] });

    expect(await namesOf(index, ' ')).to.deep.equal(['read_weather']);
    expect([embeddingModel.texts.length, vectorStore.searches.length]).to.deep.equal([1, 0]);
  });

  it('waits in a search until the tools are stored', async () => {
    const [indexed, found] = await Promise.all([
      index.index({ session: 's', references: [weather] }),
      namesOf(index, 'weather'),
    ]);

    expect([indexed, found]).to.deep.equal([undefined, ['read_weather']]);
  });

  it('truncates long queries between characters', async () => {
    await index.index({ session: 's', references: [tool('a', `${'x'.repeat(5_997)}\u{1F600}`)] });
    await index.search({ session: 's', query: `${'x'.repeat(5_999)}\u{1F600}` });

    for (const [text] of embeddingModel.texts)
      expect(text).to.match(/x$/).and.to.have.lengthOf.within(5_999, 6_000);
  });

  describe('minScore', () => {
    const vectors: Readonly<Record<string, readonly number[]>> = {
      near: [1, 0.1],
      far: [0.3, 1],
      opposite: [-1, 0],
      query: [1, 0],
    };
    const vectorOf = (text: string): Vector =>
      new Float32Array(vectors[text.split('\n')[0] as string] ?? []);

    for (const [minScore, ...names] of [
      [undefined, 'near', 'far'],
      [-1, 'near', 'far', 'opposite'],
      [0.5, 'near'],
      [1],
    ] as const)
      it(`${minScore} keeps ${names.join(', ') || 'nothing'}`, async () => {
        const limited = create({ embeddingModel: new WordModel(vectorOf), minScore });
        await limited.index({
          session: 's',
          references: [tool('opposite'), tool('far'), tool('near')],
        });

        expect(await namesOf(limited, 'query')).to.deep.equal(names);
      });
  });

  describe('cache', () => {
    it('embeds only the new tools of a changed set', async () => {
      await index.index({ session: 's', references: [weather, email] });
      await index.index({ session: 's', references: [email, music, structuredClone(weather)] });

      expect(
        embeddingModel.texts.map((texts) => texts.map((text) => text.split('\n')[0])),
      ).to.deep.equal([['read_weather', 'send_email'], ['play_music']]);
      expect((await namesOf(index, 'weather'))[0]).to.equal('read_weather');
      expect((await namesOf(index, 'music'))[0]).to.equal('play_music');
    });

    it('embeds equal texts of several tools once', async () => {
      await index.index({ session: 's', references: [weather, { ...weather, category: 'twin' }] });

      expect(embeddingModel.texts.map(({ length }) => length)).to.deep.equal([1]);
      expect(await namesOf(index, 'weather')).to.deep.equal(['read_weather', 'read_weather']);
    });

    it('does not call the model for known texts', async () => {
      await index.index({ session: 's', references: [weather, email] });
      await index.index({ session: 's', references: [email] });

      expect(embeddingModel.texts).to.have.lengthOf(1);
    });

    it('embeds all texts again with maxCachedVectors 0', async () => {
      index = create({ maxCachedVectors: 0 });
      await index.index({ session: 's', references: [weather, email] });
      await index.index({ session: 's', references: [email] });

      expect(embeddingModel.texts.map(({ length }) => length)).to.deep.equal([2, 1]);
      expect(await namesOf(index, 'email')).to.deep.equal(['send_email']);
    });

    it('removes the least recently used texts', async () => {
      index = create({ maxCachedVectors: 2 });
      for (const references of [
        [weather],
        [email],
        [weather, tool('one_more')],
        [weather, music],
        [email, weather],
      ])
        await index.index({ session: 's', references });

      expect(
        embeddingModel.texts.map((texts) => texts.map((text) => text.split('\n')[0])),
      ).to.deep.equal([
        ['read_weather'],
        ['send_email'],
        ['one_more'],
        ['play_music'],
        ['send_email'],
      ]);
    });
  });

  describe('failures', () => {
    for (const part of ['model', 'store'] as const)
      it(`finds nothing after a failure of the ${part}, until it is indexed again`, async () => {
        await index.index({ session: 's', references: [email] });
        const broken = part === 'model' ? embeddingModel : vectorStore;
        broken.failure = failure;
        const request = { session: 's', references: [email, weather] };

        expect(await failureOf(index.index(request))).to.equal(failure);
        expect(await failureOf(index.index(request))).to.equal(failure);
        broken.failure = undefined;
        expect(await namesOf(index, 'email')).to.deep.equal([]);
        expect(await namesOf(index, '')).to.deep.equal([]);

        await index.index(request);
        expect(await namesOf(index, 'weather')).to.deep.equal(['read_weather']);
      });

    it('rejects for every session with the failed tools, and for no other', async () => {
      await index.index({ session: 'other', references: [music] });
      embeddingModel.failure = failure;
      const attempts = ['s', 't'].map((session) =>
        failureOf(index.index({ session, references: [weather] })),
      );
      const searched = failureOf(index.search({ session: 's', query: 'weather' }));

      expect(await Promise.all([...attempts, searched])).to.deep.equal([failure, failure, failure]);
      embeddingModel.failure = undefined;
      expect(await namesOf(index, { session: 'other', query: 'music' })).to.deep.equal([
        'play_music',
      ]);
    });

    it('rejects a wrong number of vectors', async () => {
      embeddingModel.embed = async () => ({
        vectors: [bagOfWords('a')],
        usage: undefined,
        model: undefined,
      });

      expect(
        await failureOf(index.index({ session: 's', references: [weather, email] })),
      ).to.be.instanceOf(ModelCallError);
      expect(await namesOf(index, '')).to.deep.equal([]);
    });

    it('rejects a response without a vector for a query', async () => {
      await index.index({ session: 's', references: [weather] });
      embeddingModel.embed = async () => ({ vectors: [], usage: undefined, model: undefined });

      expect(await failureOf(index.search({ session: 's', query: 'weather' }))).to.be.instanceOf(
        ModelCallError,
      );
    });

    it('fails one search, but not the next', async () => {
      await index.index({ session: 's', references: [weather] });
      for (const broken of [embeddingModel, vectorStore]) {
        broken.failure = failure;
        expect(await failureOf(index.search({ session: 's', query: 'weather' }))).to.equal(failure);
        broken.failure = undefined;
      }

      expect(await namesOf(index, 'weather')).to.deep.equal(['read_weather']);
    });

    it('deletes the namespace of a set that was not stored completely', async () => {
      vectorStore.failure = failure;
      await failureOf(index.index({ session: 's', references: [weather] }));
      vectorStore.failure = undefined;
      await index.clear('s');

      expect([...new Set(vectorStore.deletes)]).to.deep.equal(
        vectorStore.upserts.map(([namespace]) => namespace),
      );
    });

    it('retries a failed deletion', async () => {
      await index.index({ session: 's', references: [weather] });
      vectorStore.failure = failure;
      expect(await failureOf(index.clear('s'))).to.equal(failure);
      vectorStore.failure = undefined;
      await index.clear('s');
      await index.clear('s');

      const [first] = vectorStore.upserts.map(([namespace]) => namespace);
      expect(vectorStore.deletes).to.deep.equal([first, first]);
    });
  });

  describe('store', () => {
    it('[TST-28] deletes each unused set once', async () => {
      for (let at = 0; at < 20; at++) {
        await index.index({ session: 's', references: setOf(at) });
        await index.clear('s');
      }

      expect(vectorStore.deletes).to.deep.equal(
        vectorStore.upserts.map(([namespace]) => namespace),
      );
    });

    it('[D27] deletes what a cleared session has stored, and embeds it only once', async () => {
      for (const session of ['s', 't']) {
        await index.index({ session, references: [weather, email] });
        expect(vectorStore.stored.size).to.equal(1);
        await index.clear(session);
        expect(vectorStore.stored.size).to.equal(0);
      }

      expect(embeddingModel.texts).to.have.lengthOf(1);
    });

    it('[D27] keeps what another session needs, until that is cleared too', async () => {
      await index.index({ session: 's', references: [weather] });
      await index.index({ session: 't', references: [weather] });

      await index.clear('s');
      expect(await namesOf(index, { session: 't', query: 'weather' })).to.deep.equal([
        'read_weather',
      ]);
      await index.clear('t');
      expect(vectorStore.stored.size).to.equal(0);
    });

    it('[D27] deletes everything on close, and can be used again', async () => {
      for (let at = 0; at < 3; at++)
        await index.index({ session: `s${at}`, references: setOf(at) });

      await index.close();
      expect(vectorStore.stored.size).to.equal(0);
      expect(await namesOf(index, { session: 's0', query: 'tool' })).to.deep.equal([]);

      await index.index({ session: 's', references: [weather] });
      expect(await namesOf(index, 'weather')).to.deep.equal(['read_weather']);
    });

    it('[D27] close rejects with the error of the store, and deletes when called again', async () => {
      await index.index({ session: 's', references: [weather] });
      vectorStore.failure = failure;
      expect(await failureOf(index.close())).to.equal(failure);
      vectorStore.failure = undefined;
      await index.close();

      expect(vectorStore.stored.size).to.equal(0);
    });

    it('[D27] close waits for deletions that have begun', async () => {
      let open = (): void => undefined;
      const gate = new Promise<void>((resolve) => (open = resolve));
      const remove = vectorStore.clear.bind(vectorStore);
      await index.index({ session: 's', references: [weather] });
      const [first] = vectorStore.stored;
      vectorStore.clear = async (namespace) => {
        if (namespace === first) await gate;
        await remove(namespace);
      };
      await index.index({ session: 's', references: [email] });

      const closed = index.close();
      setImmediate(open);
      await closed;

      expect(vectorStore.stored.size).to.equal(0);
      expect(vectorStore.deletes).to.have.lengthOf(2);
    });

    it('[D27] stores and deletes nothing for an empty set of tools', async () => {
      await index.index({ session: 's', references: [] });
      await index.clear('s');
      await index.close();

      expect([vectorStore.upserts, vectorStore.deletes]).to.deep.equal([[], []]);
    });

    it('keeps the set of another session', async () => {
      await index.index({ session: 'kept', references: [weather] });
      for (let at = 0; at < 20; at++) {
        await index.index({ session: 's', references: at % 2 === 0 ? [weather] : setOf(at) });
        await index.clear('s');
      }

      expect(await namesOf(index, { session: 'kept', query: 'weather' })).to.deep.equal([
        'read_weather',
      ]);
    });

    it('embeds a text once for concurrent sessions', async () => {
      const sessions = Array.from({ length: 30 }, (_, at) => `s${at}`);
      await Promise.all(
        sessions.map((session) =>
          index.index({ session, references: [weather, email, tool(`own_${session}`)] }),
        ),
      );

      expect(embeddingModel.texts.flat()).to.have.lengthOf(2 + sessions.length);
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

      expect(embeddingModel.texts.at(-1)).to.deep.equal(['weather']);
    });

    it('keeps few sets of a session whose tools change often', async () => {
      for (let at = 0; at < 100; at++) await index.index({ session: 's', references: setOf(at) });

      expect(vectorStore.stored.size).to.be.at.most(2);
    });

    it('[D27] [TST-35] deletes the sets of a session that is indexed many times concurrently', async () => {
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => index.index({ session: 's', references: setOf(at) })),
      );
      expect(await namesOf(index, '')).to.deep.equal(['tool_19']);
      await index.clear('s');

      expect(await namesOf(index, '')).to.deep.equal([]);
      expect(vectorStore.stored.size).to.be.equal(0);
    });

    it('[D27] [TST-35] deletes the sets of sessions that are cleared while they are embedded', async () => {
      let open = (): void => undefined;
      embeddingModel.gate = new Promise((resolve) => (open = resolve));
      const sessions = Array.from({ length: 20 }, (_, at) => `s${at}`);
      const indexed = sessions.map((session, at) =>
        index.index({ session, references: setOf(at) }),
      );
      const cleared = sessions.map((session) => index.clear(session));
      open();
      await Promise.all([...indexed, ...cleared]);
      await index.clear('s0');

      expect(vectorStore.stored.size).to.be.equal(0);
    });

    it('[F84] keeps indexes apart that share a store', async () => {
      const another = create();
      await index.index({ session: 's', references: [weather] });
      await another.index({ session: 's', references: [weather, tool('secret_weather')] });

      expect(await namesOf(index, 'weather')).to.deep.equal(['read_weather']);
      expect(vectorStore.stored.size).to.equal(2);
    });
  });

  it('passes the signal of a search to model and store', async () => {
    const { signal } = new AbortController();
    await index.index({ session: 's', references: [weather] });
    await index.search({ session: 's', query: 'weather', signal });

    expect(embeddingModel.runs.at(-1)?.signal).to.equal(signal);
    expect(vectorStore.searches[0]?.[2]?.signal).to.equal(signal);
  });

  it('fails a search with the error of the aborted model', async () => {
    const controller = new AbortController();
    await index.index({ session: 's', references: [weather] });
    embeddingModel.embed = async (_texts, run) => {
      controller.abort(failure);
      run?.signal?.throwIfAborted();
      return { vectors: [bagOfWords('weather')], usage: undefined, model: undefined };
    };

    expect(
      await failureOf(index.search({ session: 's', query: 'weather', signal: controller.signal })),
    ).to.equal(failure);
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
    it(`rejects ${option}: ${JSON.stringify(value) ?? 'undefined'}${Number.isNaN(value) ? ' (not a number)' : ''}`, () => {
      expect(() => create({ [option]: value } as never)).to.throw(
        InvalidArgumentError,
        `VectorToolIndex: ${option} must be`,
      );
    });

  it('rejects missing options', () => {
    expect(() => new VectorToolIndex(undefined as never)).to.throw(
      InvalidArgumentError,
      'embeddingModel',
    );
  });
});
