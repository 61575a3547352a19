import { expect } from 'chai';
import { InMemoryVectorStore, InvalidArgumentError, type VectorStore } from '../../src/index.js';
import type { Document } from '../../src/core/chat/document.js';
import type { Filter } from '../../src/stores/vectors/filter.js';
import { itBehavesLikeAVectorStore } from '../../src/testing/index.js';

const shared = new InMemoryVectorStore();
itBehavesLikeAVectorStore({ name: 'InMemoryVectorStore', create: () => shared });

type Upsert = Parameters<VectorStore['upsert']>;
type Search = Parameters<VectorStore['search']>;
type List = Parameters<VectorStore['list']>;

/** A correct store, of which the others break one law each. */
class Store extends InMemoryVectorStore {}

/** A filter whose keys and values are changed. */
const replaced = (filter: Filter | undefined, from: RegExp, to: string): Filter | undefined =>
  filter && (JSON.parse(JSON.stringify(filter).replaceAll(from, to)) as Filter);

/** Stores that break a law, by its title. */
const FAULTY_STORES: Readonly<Record<string, () => VectorStore>> = {
  'lists what it keeps, also by another connection': () => new Store(),
  'replaces the document of a known id': () => new (class extends Store {
    override async upsert(...[name, documents, options]: Upsert) {
      const known = new Set((await this.list(name)).map(({ id }) => id));
      await super.upsert(name, documents.filter(({ id }) => !known.has(id)), options);
    }
  })(),
  'keeps namespaces apart, whatever their names': () => new (class extends Store {
    override async upsert(...[name, documents, options]: Upsert) {
      await super.upsert(name.trim(), documents, options);
    }
    override async list(...[name, query]: List) {
      return super.list(name.trim(), query);
    }
    override async search(...[name, query]: Search) {
      return super.search(name.trim(), query);
    }
  })(),
  'keeps ids, texts, keys and values of any characters': () => new (class extends Store {
    override async upsert(...[name, documents, options]: Upsert) {
      await super.upsert(name, documents.map((each) => ({ ...each, text: each.text.normalize() })), options);
    }
  })(),
  'keeps U+FFFD in place of what some databases refuse': () => new (class extends Store {
    override async upsert(...[name, documents, options]: Upsert) {
      await super.upsert(name, documents.map((each) => ({ ...each, text: each.text.replace('\0', '') })), options);
    }
  })(),
  'lists pages in the order of code points': () => new (class extends Store {
    override async list(...[name, query]: List) {
      return (await super.list(name, query)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    }
  })(),
  'deletes by ids and by filter': () => new (class extends Store {
    override async delete(name: string, selection: readonly string[] | Filter) {
      const isEmpty = Array.isArray(selection) && selection.length === 0;
      await super.delete(name, isEmpty ? {} : selection);
    }
  })(),
  'replaces in one step what a filter accepts': () => new (class extends Store {
    override async upsert(...[name, documents, options = {}]: Upsert) {
      if (options.replaces) await this.delete(name, options.replaces);
      if (documents.length > 0) await super.upsert(name, documents, { replaces: { none: true } });
      await this.delete(name, options.replaces && documents.length > 1 ? ['2'] : []);
    }
  })(),
  'stores all documents of a call or none': () => new (class extends Store {
    override async upsert(...[name, documents, options]: Upsert) {
      for (const [at, document] of documents.entries())
        await super.upsert(name, [document], at === 0 ? options : undefined);
    }
  })(),
  'shows readers all documents of a call or none': () => new (class extends Store {
    override async upsert(...[name, documents, options = {}]: Upsert) {
      if (options.replaces) await super.delete(name, options.replaces);
      await new Promise((resolve) => setTimeout(resolve, 3));
      await super.upsert(name, documents);
    }
  })(),
  'deletes all documents of a concurrent call or none': () => new (class extends Store {
    override async upsert(...[name, documents, options]: Upsert) {
      await new Promise(setImmediate);
      await super.upsert(name, documents, options);
    }
    override async delete(name: string, selection: readonly string[] | Filter) {
      if (Array.isArray(selection)) return super.delete(name, selection);
      const seen = await this.list(name, { filter: selection as Filter });
      await new Promise((resolve) => setTimeout(resolve, 3));
      await super.delete(name, seen.map(({ id }) => id));
    }
  })(),
  'stores nothing once its signal is aborted': () => new (class extends Store {
    override async upsert(...[name, documents]: Upsert) {
      await super.upsert(name, documents);
    }
  })(),
  'rejects what databases cannot keep': () => new (class extends Store {
    override async clear(name: string) {
      if (typeof name === 'string' && name.trim() !== '') await super.clear(name);
    }
  })(),
  'finds the nearest documents by angle, best first': () => new (class extends Store {
    override async search(...[name, query]: Search) {
      return (await super.search(name, query)).toReversed();
    }
  })(),
  'applies a filter before it counts': () => new (class extends Store {
    override async search(...[name, { filter = {}, ...query }]: Search) {
      const found = await super.search(name, query);
      const ids = new Set((await this.list(name, { filter })).map(({ id }) => id));
      return found.filter(({ id }) => ids.has(id));
    }
  })(),
  'finds at most topK documents, none below minScore': () => new (class extends Store {
    override async search(...[name, query]: Search) {
      return super.search(name, { ...query, minScore: undefined });
    }
  })(),
  'scores 0 for a zero vector, and large and small ones by their angle': () => new (class extends Store {
    override async search(...[name, query, run]: Search) {
      const found = await super.search(name, query, run);
      return found.filter(({ score }) => score !== 0);
    }
  })(),
  'returns texts and metadata, and scores': () => new (class extends Store {
    override async search(...[name, query, run]: Search) {
      const found = await super.search(name, query, run);
      return found.map((each): Document => ({ ...each, metadata: { ...each.metadata, page: '7' } }));
    }
  })(),
  'finds nothing in an empty namespace, which then takes other dimensions': () => new (class extends Store {
    override async clear(name: string) {
      await super.delete(name, (await this.list(name)).map(({ id }) => id).slice(1));
    }
  })(),
  'rejects queries that it cannot answer': () => new (class extends Store {
    override async search(...[name, query, run]: Search) {
      return query.vector.length === 3 ? [] : super.search(name, query, run);
    }
  })(),
  'accepts by every operator what matchesFilter accepts': () => new (class extends Store {
    override async list(...[name, { filter, ...query } = {}]: List) {
      return super.list(name, { ...query, filter: replaced(filter, /"gte":/g, '"gt":') ?? {} });
    }
  })(),
  'accepts by random filters what matchesFilter accepts': () => new (class extends Store {
    override async list(...[name, { filter, ...query } = {}]: List) {
      return super.list(name, { ...query, filter: replaced(filter, /"en"/g, '"EN"') ?? {} });
    }
  })(),
  'deletes by random filters what matchesFilter accepts': () => new (class extends Store {
    override async delete(name: string, selection: readonly string[] | Filter) {
      if (Array.isArray(selection)) return super.delete(name, selection);
      const changed = replaced(selection as Filter, /"contains":/g, '"eq":') ?? {};
      return super.delete(name, replaced(changed, /"lte":/g, '"lt":') ?? {});
    }
  })(),
}; // prettier-ignore

describe('itBehavesLikeAVectorStore', () => {
  const lawsOf = (create: () => VectorStore): Map<string, () => Promise<void>> => {
    const laws = new Map<string, () => Promise<void>>();
    itBehavesLikeAVectorStore(
      { name: 'a store', create },
      { describe: (_, body) => body(), it: (title, body) => laws.set(title, body) },
    );
    return laws;
  };

  it('has a store that breaks each law', () => {
    expect(Object.keys(FAULTY_STORES)).to.deep.equal([...lawsOf(() => new Store()).keys()]);
  });

  for (const [law, create] of Object.entries(FAULTY_STORES))
    it(`finds the fault: ${law}`, async () => {
      // two stores without a common state break the first law
      const one = create();
      const isFirst = law.startsWith('lists what');
      const check = lawsOf(() => (isFirst ? create() : one)).get(law);

      const error: unknown = await check?.().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(Error);
    });

  it('needs describe and it', () => {
    expect(() =>
      itBehavesLikeAVectorStore({ name: 'a store', create: () => shared }, {} as never),
    ).to.throw(InvalidArgumentError, 'needs describe and it');
  });
});
