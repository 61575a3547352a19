import { expect } from 'chai';
import * as fc from 'fast-check';
import { InMemoryVectorStore } from '../../../src/stores/vectors/in-memory-vector-store.js';
import type { VectorQuery } from '../../../src/stores/vectors/vector-store.js';
import type { Filter } from '../../../src/stores/vectors/filter.js';
import type { Document, DocumentMetadata } from '../../../src/core/chat/document.js';
import { CancelledError, InvalidArgumentError } from '../../../src/core/errors/errors.js';
import { failureOf } from '../../support/modes.js';
import { collectGarbage } from '../../support/collect-garbage.js';

function entry(id: string, numbers: readonly number[], metadata?: DocumentMetadata): Document {
  return { id, text: `text of ${id}`, vector: new Float32Array(numbers), metadata };
}

function found(id: string, score: number, metadata?: DocumentMetadata): Document {
  return { id, text: `text of ${id}`, score, ...(metadata && { metadata }) };
}

function queryOf(numbers: readonly number[], topK = 10, filter?: Filter): VectorQuery {
  return { vector: new Float32Array(numbers), topK, filter };
}

function idsOf(matches: readonly Document[]): readonly string[] {
  return matches.map(({ id }) => id);
}

async function rejectionOf(run: Promise<unknown>): Promise<string> {
  const error: unknown = await run.catch((thrown: unknown) => thrown);
  expect(error).to.be.instanceOf(InvalidArgumentError);
  return (error as Error).message;
}

describe('InMemoryVectorStore', () => {
  let store: InMemoryVectorStore;

  beforeEach(() => {
    store = new InMemoryVectorStore();
  });

  it('finds the nearest vectors by angle, best first', async () => {
    await store.upsert('n', [
      entry('opposite', [-9, 0]),
      entry('right', [0, 5]),
      entry('same', [0.01, 0]),
      entry('near', [4, 4]),
    ]);

    const matches = await store.search('n', queryOf([7, 0]));

    expect(idsOf(matches)).to.deep.equal(['same', 'near', 'right', 'opposite']);
    expect(matches.map(({ score }) => Math.round((score ?? NaN) * 1e6) / 1e6)).to.deep.equal([
      1, 0.707107, 0, -1,
    ]);
  });

  it('returns at most topK matches', async () => {
    await store.upsert('n', [entry('a', [0, 1]), entry('b', [1, 0]), entry('c', [1, 1])]);

    expect(idsOf(await store.search('n', queryOf([1, 0], 2)))).to.deep.equal(['b', 'c']);
    expect(idsOf(await store.search('n', queryOf([1, 0], 1)))).to.deep.equal(['b']);
  });

  it('returns equal scores in insertion order', async () => {
    await store.upsert('n', [
      entry('a', [1, 0]),
      entry('b', [1, 0]),
      entry('c', [1, 0]),
      entry('d', [1, 0]),
    ]);

    expect(idsOf(await store.search('n', queryOf([1, 0], 3)))).to.deep.equal(['a', 'b', 'c']);
  });

  it('gives equal vectors equal scores in any row, beside others and behind a filter', async () => {
    const numbers = [0.1, -0.7, 0.3, 0.9, -0.2, 0.77, 0.13];
    const rows = Array.from({ length: 23 }, (_, at) =>
      entry(`${at}`, at % 3 === 0 ? numbers : [at, 1, 2, 3, 4, 5, 6], { odd: at % 2 === 1 }),
    );
    await store.upsert('n', rows);
    await store.delete('n', ['0', '1', '10']);
    const query = queryOf([0.2, -0.6, 0.35, 0.8, -0.1, 0.7, 0.2]);

    const all = (await store.search('n', query)).slice(0, 7);
    const odd = await store.search('n', { ...query, topK: 4, filter: { odd: true } });

    expect(idsOf(all)).to.deep.equal(['3', '6', '9', '12', '15', '18', '21']);
    expect(idsOf(odd)).to.deep.equal(['3', '9', '15', '21']);
    expect(new Set([...all, ...odd].map(({ score }) => score)).size).to.equal(1);
  });

  it('scores 0 for a zero vector, stored or searched', async () => {
    await store.upsert('n', [
      entry('against', [-1, 0]),
      entry('zero', [0, 0]),
      entry('along', [1, 0]),
    ]);

    expect(await store.search('n', queryOf([1, 0]))).to.deep.equal([
      found('along', 1),
      found('zero', 0),
      found('against', -1),
    ]);
    expect((await store.search('n', queryOf([0, 0]))).map(({ score }) => score)).to.deep.equal([
      0, 0, 0,
    ]);
  });

  it('scores the largest and smallest numbers within 1', async () => {
    await store.upsert('n', [
      entry('large', [3.4e38, 3.4e38, 3.4e38]),
      entry('small', [1e-45, 1e-45, 1e-45]),
    ]);

    for (const { score } of await store.search('n', queryOf([1, 1, 1])))
      expect(score).to.be.within(0.999999, 1);
  });

  it('separates namespaces of any name and dimensions', async () => {
    const names = ['%', '__proto__', 'constructor', 'a', 'A'];
    for (const [at, name] of names.entries())
      await store.upsert(name, [
        entry(
          name,
          Array.from({ length: at + 1 }, () => 1),
        ),
      ]);

    for (const [at, name] of names.entries())
      expect(
        idsOf(await store.search(name, queryOf(Array.from({ length: at + 1 }, () => 1)))),
      ).to.deep.equal([name]);
  });

  it('finds nothing in a missing namespace', async () => {
    expect(await store.search('n', queryOf([1]))).to.deep.equal([]);
    expect(await store.search('__proto__', queryOf([1]))).to.deep.equal([]);
  });

  it('creates no namespace for an empty list', async () => {
    await store.upsert('n', []);
    await store.upsert('n', [entry('a', [1, 2, 3])]);

    expect(await store.search('n', queryOf([1, 2, 3]))).to.have.length(1);
  });

  it('accepts any storable string as id', async () => {
    const ids = ['%', '__proto__', 'toString', '\u0001', '😀'];
    await store.upsert(
      'n',
      ids.map((id) => entry(id, [1])),
    );

    expect(idsOf(await store.search('n', queryOf([1])))).to.deep.equal(ids);
  });

  it('replaces vector and metadata of an entry in its position', async () => {
    await store.upsert('n', [entry('a', [1, 0], { kind: 'x' }), entry('b', [0, 1])]);
    await store.upsert('n', [entry('a', [0, 1])]);

    expect(await store.search('n', queryOf([0, 1]))).to.deep.equal([found('a', 1), found('b', 1)]);
    expect(await store.search('n', queryOf([0, 1], 10, { kind: 'x' }))).to.deep.equal([]);
  });

  it('keeps the last of two entries with the same id', async () => {
    await store.upsert('n', [entry('a', [1, 0]), entry('a', [0, 1])]);

    expect(await store.search('n', queryOf([0, 1]))).to.deep.equal([found('a', 1)]);
  });

  it('deletes entries and ignores missing ones', async () => {
    await store.upsert('n', [entry('a', [1]), entry('b', [1])]);

    await store.delete('n', ['a', 'a', 'x']);
    await store.delete('other', ['b']);
    await store.clear('other');
    await store.delete('n', []);

    expect(idsOf(await store.search('n', queryOf([1])))).to.deep.equal(['b']);
  });

  it('appends new entries after others were deleted', async () => {
    await store.upsert('n', [entry('a', [1, 0]), entry('b', [1, 0])]);
    await store.delete('n', ['a']);
    await store.upsert('n', [entry('c', [1, 0]), entry('a', [0, 1])]);

    expect(await store.search('n', queryOf([1, 0]))).to.deep.equal([
      found('b', 1),
      found('c', 1),
      found('a', 0),
    ]);
  });

  it('does not grow when entries are added and deleted', async () => {
    const numbers = Array.from({ length: 100_000 }, (_, at) => at + 1);
    await store.upsert('n', [entry('stays', numbers)]);
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;

    for (let round = 0; round < 40; round++) {
      await store.upsert('n', [entry('replaced', numbers), entry(`${round}`, numbers)]);
      await store.delete('n', [`${round}`]);
    }

    // buffers are freed beside the program, some time after a collection
    const kept = (): number => process.memoryUsage().arrayBuffers - before;
    for (let round = 0; round < 50 && kept() > 20_000_000; round++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(kept()).to.be.below(20_000_000); // 80 leaked vectors would be 32 MB
    expect(await store.search('n', queryOf(numbers))).to.have.length(2);
  });

  it('deletes a namespace, which may then have other dimensions', async () => {
    await store.upsert('n', [entry('a', [1, 0])]);
    await store.upsert('m', [entry('a', [1, 0])]);

    await store.clear('n');

    expect(await store.search('n', queryOf([1, 0]))).to.deep.equal([]);
    expect(await store.search('m', queryOf([1, 0]))).to.have.length(1);
    await store.upsert('n', [entry('a', [1, 0, 0])]);
    expect(await store.search('n', queryOf([1, 0, 0]))).to.have.length(1);
  });

  it('deletes a namespace with its last entry', async () => {
    await store.upsert('n', [entry('a', [1, 0])]);
    await store.delete('n', ['a']);

    await store.upsert('n', [entry('a', [1, 0, 0])]);

    expect(await store.search('n', queryOf([1, 0, 0]))).to.have.length(1);
  });

  it('applies all labels of a filter before topK', async () => {
    await store.upsert('n', [
      entry('none', [1, 0]),
      entry('half', [1, 0], { kind: 'x' }),
      entry('other', [1, 0], { kind: 'x', by: 'bo' }),
      entry('both', [0, 1], { kind: 'x', by: 'al', more: '1' }),
    ]);

    expect(
      idsOf(await store.search('n', queryOf([1, 0], 1, { kind: 'x', by: 'al' }))),
    ).to.deep.equal(['both']);
    expect(await store.search('n', queryOf([1, 0], 1, {}))).to.have.length(1);
  });

  it('ignores inherited properties of metadata', async () => {
    const named = JSON.parse('{"__proto__":"p"}') as DocumentMetadata;
    await store.upsert('n', [
      entry('inherits', [1], Object.create({ kind: 'x' }) as DocumentMetadata),
      entry('plain', [1], {}),
      entry('named', [1], named),
    ]);

    expect(await store.search('n', queryOf([1], 10, { kind: 'x' }))).to.deep.equal([]);
    expect(
      await store.search('n', queryOf([1], 10, { toString: 'x' } as unknown as Filter)),
    ).to.deep.equal([]);
    expect(
      idsOf(await store.search('n', queryOf([1], 10, JSON.parse('{"__proto__":"p"}') as Filter))),
    ).to.deep.equal(['named']);
  });

  it('copies vectors and metadata', async () => {
    const vector = new Float32Array([1, 0]);
    const metadata = { kind: 'x' };
    await store.upsert('n', [{ id: 'a', text: 'text of a', vector, metadata }]);

    vector.set([0, 1]);
    metadata.kind = 'y';

    expect(await store.search('n', queryOf([1, 0], 1, { kind: 'x' }))).to.deep.equal([
      found('a', 1, { kind: 'x' }),
    ]);
  });

  it('[D33] returns the text and the metadata of a document', async () => {
    const vector = new Float32Array([1, 0]);
    await store.upsert('n', [
      { id: 'rome', vector, text: 'Rome is warm.', metadata: { page: '7' } },
      { id: 'empty', vector, text: '' },
    ]);

    const matches = await store.search('n', queryOf([1, 0]));

    expect(matches).to.deep.equal([
      { id: 'rome', score: 1, text: 'Rome is warm.', metadata: { page: '7' } },
      { id: 'empty', score: 1, text: '' },
    ]);
    expect(() => Object.assign(matches[0]?.metadata ?? {}, { page: '8' })).to.throw(TypeError);
  });

  it('keeps texts and values with U+FFFD in place of what databases refuse', async () => {
    const metadata = { k: 'a\0', list: ['\udfff'] };
    await store.upsert('n', [{ ...entry('a', [1], metadata), text: 'b\0c\ud800' }]);

    expect(await store.search('n', queryOf([1], 1, { k: 'a\0' }))).to.deep.equal([
      { id: 'a', text: 'b\ufffdc\ufffd', score: 1, metadata: { k: 'a\ufffd', list: ['\ufffd'] } },
    ]);
  });

  it('accepts a view of a larger buffer and does not change it', async () => {
    const vector = new Float32Array([9, 3, 4, 9]).subarray(1, 3);

    await store.upsert('n', [{ id: 'a', text: '', vector }]);

    expect((await store.search('n', { vector, topK: 1 }))[0]?.score).to.be.closeTo(1, 1e-6);
    expect([...vector]).to.deep.equal([3, 4]);
  });

  it('lists documents in the order of their ids, by pages', async () => {
    await store.upsert(
      'n',
      ['b', 'a', '\uffff', '😀', 'c'].map((id, at) => entry(id, [3, 4], { at })),
    );

    expect(idsOf(await store.list('n'))).to.deep.equal(['a', 'b', 'c', '\uffff', '😀']);
    expect(idsOf(await store.list('n', { after: 'a', limit: 2 }))).to.deep.equal(['b', 'c']);
    expect(idsOf(await store.list('n', { filter: { at: { lt: 2 } } }))).to.deep.equal(['a', 'b']);
    expect(await store.list('n', { limit: 1 })).to.deep.equal([
      { id: 'a', text: 'text of a', metadata: { at: 1 } },
    ]);
    const [first] = await store.list('n', { limit: 1, withVectors: true });
    expect(first?.vector).to.deep.equal(new Float32Array([0.6, 0.8]));
    expect(await store.list('other')).to.deep.equal([]);
  });

  it('deletes what a filter accepts, and the namespace with the last one', async () => {
    await store.upsert('n', [entry('a', [1, 0], { k: 1 }), entry('b', [1, 0], { k: 2 })]);

    await store.delete('n', { k: { gt: 1 } });
    expect(idsOf(await store.list('n'))).to.deep.equal(['a']);
    await store.delete('n', {});
    await store.upsert('n', [entry('a', [1])]);
    expect(idsOf(await store.list('n'))).to.deep.equal(['a']);
  });

  it('replaces in one step what a filter accepts', async () => {
    await store.upsert('n', [
      entry('1', [1, 0], { file: 'a' }),
      entry('2', [1, 0], { file: 'a' }),
      entry('3', [1, 0], { file: 'b' }),
    ]);

    await store.upsert(
      'n',
      [entry('2', [0, 1], { file: 'a' }), entry('4', [1, 0], { file: 'a' })],
      {
        replaces: { file: 'a' },
      },
    );
    expect(idsOf(await store.list('n'))).to.deep.equal(['2', '3', '4']);
    await store.upsert('n', [], { replaces: { file: 'a' } });
    expect(idsOf(await store.list('n'))).to.deep.equal(['3']);
    await store.upsert('n', [entry('5', [1])], { replaces: {} });
    expect(idsOf(await store.list('n'))).to.deep.equal(['5']);
  });

  it('finds no document below the threshold', async () => {
    await store.upsert('n', [entry('a', [1, 0]), entry('b', [1, 1]), entry('c', [0, 1])]);

    const query = { ...queryOf([1, 0]), minScore: 0.5 };
    expect(idsOf(await store.search('n', query))).to.deep.equal(['a', 'b']);
  });

  it('does nothing once the signal is aborted', async () => {
    const signal = AbortSignal.abort('over');

    expect(await failureOf(store.upsert('n', [entry('a', [1])], { signal }))).to.be.instanceOf(
      CancelledError,
    );
    expect(await store.list('n')).to.deep.equal([]);
    expect(await failureOf(store.search('n', queryOf([1]), { signal }))).to.be.instanceOf(
      CancelledError,
    );
  });

  describe('rejects', () => {
    beforeEach(() => store.upsert('n', [entry('a', [1, 0])]));

    it('vectors whose dimensions differ from the namespace, with both numbers', async () => {
      const message = 'has 3 dimensions, but the vectors of namespace "n" have 2';

      expect(await rejectionOf(store.upsert('n', [entry('b', [1, 2, 3])]))).to.include(
        `documents[0].vector ${message}`,
      );
      expect(await rejectionOf(store.search('n', queryOf([1, 2, 3])))).to.include(
        `vector ${message}`,
      );
    });

    it('different dimensions in a new namespace, and does not create it', async () => {
      expect(
        await rejectionOf(store.upsert('new', [entry('a', [1]), entry('b', [1, 2])])),
      ).to.include('documents[1].vector has 2 dimensions, but documents[0].vector has 1');

      expect(await store.search('new', queryOf([1, 2, 3]))).to.deep.equal([]);
    });

    it('a whole upsert if one entry is invalid', async () => {
      await rejectionOf(
        store.upsert('n', [entry('a', [0, 1]), entry('b', [1, 1]), entry('c', [Number.NaN, 1])]),
      );

      expect(await store.search('n', queryOf([1, 0]))).to.deep.equal([found('a', 1)]);
    });

    for (const value of [Number.NaN, Infinity, -Infinity]) {
      it(`${value} in a vector`, async () => {
        expect(await rejectionOf(store.upsert('n', [entry('b', [1, value])]))).to.include(
          `documents[0].vector[1] must be a finite number, not ${value}`,
        );
        expect(await rejectionOf(store.search('n', queryOf([value, 1])))).to.include(
          `vector[0] must be a finite number, not ${value}`,
        );
        expect(await rejectionOf(store.search('new', queryOf([value, 1])))).to.include(
          'must be a finite number',
        );
      });
    }

    for (const topK of [0, -1, 1.5, Number.NaN, Infinity]) {
      it(`a topK of ${topK}`, async () => {
        const message = `topK must be an integer >= 1, not ${topK}`;

        expect(await rejectionOf(store.search('n', queryOf([1, 0], topK)))).to.include(message);
        expect(await rejectionOf(store.search('new', queryOf([1, 0], topK)))).to.include(message);
      });
    }

    it('empty vectors', async () => {
      expect(await rejectionOf(store.upsert('new', [entry('a', [])]))).to.include(
        'at least one number',
      );
    });

    it('an array as vector', async () => {
      const vector = [1, 2] as unknown as Float32Array;

      expect(await rejectionOf(store.upsert('n', [{ id: 'a', text: '', vector }]))).to.include(
        'must be a Float32Array with at least one number, not an array of 2',
      );
    });

    it('an id that is not a string', async () => {
      expect(await rejectionOf(store.upsert('n', [entry(5 as never, [1, 2])]))).to.include(
        'documents[0].id must be a non-blank string',
      );
    });

    it('[D33] a text that is not a string', async () => {
      const bad = { id: 'b', vector: new Float32Array([1, 2]), text: null as never };

      expect(await rejectionOf(store.upsert('n', [bad]))).to.include(
        'documents[0].text must be a string, not null',
      );
    });

    it('metadata and filters with undefined values', async () => {
      const labels = { tenant: undefined } as never;

      expect(await rejectionOf(store.upsert('n', [entry('b', [1, 2], labels)]))).to.include(
        'metadata.tenant must be a string, a finite number',
      );
      expect(await rejectionOf(store.search('n', queryOf([1, 0], 1, labels)))).to.include(
        'filter.tenant must be a string, a finite number',
      );
    });
  });

  describe('agrees with a full sort', () => {
    const SIZE = 4;
    /** Lengths are 0 or integers, so that scores are exact. */
    const numbers = fc
      .tuple(
        fc.integer({ min: 0, max: 3 }),
        fc.array(fc.constantFrom(-1, 1), { minLength: SIZE, maxLength: SIZE }),
        fc.nat(SIZE),
      )
      .map(([scale, signs, axis]) =>
        signs.map((sign, at) => (axis === SIZE || at === axis ? sign * scale : 0)),
      );
    const id = fc.constantFrom('%', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '__proto__');
    const labels = fc.dictionary(
      fc.constantFrom('kind', 'toString', '__proto__'),
      fc.constantFrom('x', 'y'),
      { maxKeys: 2 },
    );
    const change = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.tuple(
          fc.constant('upsert' as const),
          fc.array(fc.tuple(id, numbers, labels), { maxLength: 6 }),
        ),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(fc.constant('delete' as const), fc.array(id, { maxLength: 3 })),
      },
    );

    type Kept = Map<
      string,
      { readonly numbers: readonly number[]; readonly metadata: DocumentMetadata }
    >;

    function cosine(a: readonly number[], b: readonly number[]): number {
      const dot = (x: readonly number[], y: readonly number[]): number =>
        x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
      return dot(a, b) / (Math.sqrt(dot(a, a)) * Math.sqrt(dot(b, b)) || 1) + 0; // no -0
    }

    function sortAll(
      kept: Kept,
      wanted: readonly number[],
      topK: number,
      filter: DocumentMetadata,
    ): readonly Document[] {
      return [...kept]
        .filter(([, { metadata }]) =>
          Object.entries(filter).every(
            ([name, value]) => new Map(Object.entries(metadata)).get(name) === value,
          ),
        )
        .map(([name, { numbers: values, metadata }]) => {
          return found(name, cosine(values, wanted), metadata);
        })
        .sort((a, b) => (b.score ?? 0) - (a.score ?? 0))
        .slice(0, topK);
    }

    it('after any upserts and deletes', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(change),
          numbers,
          fc.integer({ min: 1, max: 6 }),
          labels,
          async (changes, wanted, topK, filter) => {
            const tested = new InMemoryVectorStore();
            const kept: Kept = new Map();
            for (const [kind, items] of changes) {
              if (kind === 'delete') {
                await tested.delete('n', items);
                for (const name of items) kept.delete(name);
                continue;
              }
              await tested.upsert(
                'n',
                items.map(([name, values, metadata]) => entry(name, values, metadata)),
              );
              for (const [name, values, metadata] of items)
                kept.set(name, { numbers: values, metadata });
            }

            expect(await tested.search('n', queryOf(wanted, topK))).to.deep.equal(
              sortAll(kept, wanted, topK, {}),
            );
            expect(await tested.search('n', queryOf(wanted, topK, filter))).to.deep.equal(
              sortAll(kept, wanted, topK, filter),
            );
          },
        ),
        { numRuns: 500 },
      );
    });

    it('for any numbers, to the precision of 32-bit floats', async () => {
      const vector = fc.float32Array({
        minLength: 3,
        maxLength: 3,
        noNaN: true,
        noDefaultInfinity: true,
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(vector, { minLength: 1, maxLength: 40 }),
          vector,
          async (vectors, wanted) => {
            const tested = new InMemoryVectorStore();
            await tested.upsert(
              'n',
              vectors.map((value, at) => ({ id: `${at}`, text: '', vector: value })),
            );

            const matches = await tested.search('n', { vector: wanted, topK: 5 });

            const exact = vectors
              .map((value) => cosine([...value], [...wanted]))
              .sort((a, b) => b - a);
            expect(matches).to.have.length(Math.min(5, vectors.length));
            for (const [at, { id: name, score }] of matches.entries()) {
              expect(score).to.be.closeTo(exact[at] as number, 1e-6);
              expect(score).to.be.closeTo(
                cosine([...(vectors[Number(name)] as Float32Array)], [...wanted]),
                1e-6,
              );
            }
          },
        ),
      );
    });
  });
});
