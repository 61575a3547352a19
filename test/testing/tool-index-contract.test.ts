import { expect } from 'chai';
import {
  HybridToolIndex,
  InvalidArgumentError,
  KeywordToolIndex,
  RegexToolIndex,
  VectorToolIndex,
  type EmbeddingModel,
  type ToolIndex,
} from '../../src/index.js';
import type {
  ToolIndexRequest,
  ToolReference,
  ToolRemovalRequest,
  ToolSearchRequest,
} from '../../advisors/tool-search/index.js';
import { itBehavesLikeAToolIndex } from '../../src/testing/index.js';

/** Embeds a text by its first letter. */
const embeddingModel: EmbeddingModel = {
  embed: (texts) => {
    const vectors = texts.map((text) =>
      Float32Array.from({ length: 26 }, (_, at) => (text.charCodeAt(0) - 97 === at ? 1 : 0.01)),
    );
    return Promise.resolve({ vectors, usage: undefined, model: undefined });
  },
};

itBehavesLikeAToolIndex({ name: 'KeywordToolIndex', create: () => new KeywordToolIndex() });
itBehavesLikeAToolIndex({
  name: 'RegexToolIndex',
  create: () => new RegexToolIndex(),
  queryFor: ({ name }) => `^${name}$`,
});
itBehavesLikeAToolIndex({
  name: 'VectorToolIndex',
  create: () => new VectorToolIndex({ embeddingModel }),
});
itBehavesLikeAToolIndex({
  name: 'HybridToolIndex',
  create: () => new HybridToolIndex({ indexes: [new KeywordToolIndex(), new RegexToolIndex()] }),
});

/** A correct index, of which subclasses break one law each. */
class PlainIndex implements ToolIndex {
  protected readonly sessions = new Map<string, readonly ToolReference[]>();

  index({
    session,
    references,
  }: {
    readonly session: string;
    readonly references: readonly ToolReference[];
  }): void {
    this.sessions.set(session, references);
  }

  search({ session, query, maxResults = 10, category }: ToolSearchRequest): {
    readonly references: readonly ToolReference[];
  } {
    const found = (this.sessions.get(session) ?? []).filter(({ name }) => name.startsWith(query));
    const ofCategory = found.filter(
      (one) => category === undefined || one.category?.toLowerCase() === category.toLowerCase(),
    );
    return { references: ofCategory.slice(0, maxResults) };
  }

  clear(session: string): void {
    this.sessions.delete(session);
  }
}

/** Indexes that break a law, by its title. */
const FAULTY_INDEXES: Readonly<Record<string, () => ToolIndex>> = {
  'finds the tools of a session': () => new (class extends PlainIndex {
    override search() {
      return { references: [] };
    }
  })(), // prettier-ignore
  'finds nothing for an unknown session': () =>
    new (class extends PlainIndex {
      override search(request: ToolSearchRequest) {
        return super.search(
          this.sessions.has(request.session) ? request : { ...request, session: 'a' },
        );
      }
    })(),
  'replaces the tools of a session': () =>
    new (class extends PlainIndex {
      override index({
        session,
        references,
      }: {
        readonly session: string;
        readonly references: readonly ToolReference[];
      }): void {
        super.index({
          session,
          references: [...(this.sessions.get(session) ?? []), ...references],
        });
      }
    })(),
  'adds, replaces and removes single tools, if it can': () =>
    new (class extends PlainIndex {
      add(request: ToolIndexRequest): void {
        this.index(request);
      }
      remove({ session }: ToolRemovalRequest): void {
        this.clear(session);
      }
    })(),
  'finds no tools of another session': () =>
    new (class extends PlainIndex {
      override search(request: ToolSearchRequest) {
        if (!this.sessions.has(request.session)) return { references: [] };
        return {
          references: [...this.sessions.keys()].flatMap(
            (session) => super.search({ ...request, session }).references,
          ),
        };
      }
    })(),
  'clears a session, and no other with the same tools': () =>
    new (class extends PlainIndex {
      override clear(): void {
        this.sessions.clear();
      }
    })(),
  'returns at most maxResults tools, 10 by default': () =>
    new (class extends PlainIndex {
      override search(request: ToolSearchRequest) {
        return super.search({ ...request, maxResults: 100 });
      }
    })(),
  'filters by category, ignoring case': () =>
    new (class extends PlainIndex {
      override search(request: ToolSearchRequest) {
        return super.search({ ...request, category: undefined });
      }
    })(),
  'leaves the indexed references unchanged': () =>
    new (class extends PlainIndex {
      override index(request: {
        readonly session: string;
        readonly references: readonly ToolReference[];
      }): void {
        (request.references as ToolReference[]).sort((a, b) => a.name.localeCompare(b.name));
        super.index(request);
      }
    })(),
};

/** The titles of the laws that an index breaks. */
async function brokenLaws(create: () => ToolIndex): Promise<readonly string[]> {
  const titles: string[] = [];
  const work: Promise<unknown>[] = [];
  const runner = globalThis as unknown as Record<'describe' | 'it', unknown>;
  const { describe: originalDescribe, it: originalIt } = runner;
  runner.describe = (_title: string, body: () => void) => body();
  runner.it = (title: string, body: () => Promise<void>) =>
    work.push(body().catch(() => titles.push(title)));
  try {
    itBehavesLikeAToolIndex({ name: 'faulty', create });
  } finally {
    Object.assign(runner, { describe: originalDescribe, it: originalIt });
  }
  await Promise.all(work);
  return titles;
}

const INDEXES: Readonly<Record<string, () => ToolIndex>> = {
  keyword: () => new KeywordToolIndex(),
  regex: () => new RegexToolIndex(),
  vector: () => new VectorToolIndex({ embeddingModel }),
  hybrid: () => new HybridToolIndex({ indexes: [new KeywordToolIndex(), new PlainIndex()] }),
};

for (const [name, create] of Object.entries(INDEXES))
  describe(`a ${name} index`, () => {
    const weather = { name: 'weather', description: 'Rain.', inputSchema: { type: 'object' } };
    const mail = { ...weather, name: 'mail', description: 'Post.' };
    const all = (index: ToolIndex) => index.search({ session: 's', query: '' });

    it('[D66] adds, replaces and removes a single tool of a session', async () => {
      const index = create();
      await index.index({ session: 's', references: [weather] });
      await index.add?.({ session: 's', references: [mail] });
      expect((await all(index)).references).to.have.length(2);
      await index.add?.({ session: 's', references: [{ ...mail, description: 'Letters.' }] });
      const { references } = await all(index);
      expect(references.map(({ description }) => description)).to.have.members([
        'Rain.',
        'Letters.',
      ]);
      await index.remove?.({ session: 's', names: ['weather', 'unknown'] });
      expect((await all(index)).references.map((one) => one.name)).to.deep.equal(['mail']);
    });

    it('[D66] rejects an invalid request', () => {
      const index = create();
      expect(() => index.add?.({ session: '', references: [mail] })).to.throw(
        InvalidArgumentError,
        'ToolIndex.add: session',
      );
      expect(() => index.remove?.({ session: 's', names: 'mail' as never })).to.throw(
        InvalidArgumentError,
        'ToolIndex.remove: names',
      );
    });
  });

describe('itBehavesLikeAToolIndex', () => {
  it('accepts a correct index', async () => {
    expect(await brokenLaws(() => new PlainIndex())).to.deep.equal([]);
  });

  for (const [law, create] of Object.entries(FAULTY_INDEXES))
    it(`rejects an index that breaks "${law}"`, async () => {
      expect(await brokenLaws(create)).to.include(law);
    });

  it('throws without a test runner', () => {
    const runner = globalThis as unknown as { it: unknown };
    const { it: original } = runner;
    runner.it = undefined;
    try {
      expect(() => itBehavesLikeAToolIndex({ name: 'x', create: () => new PlainIndex() })).to.throw(
        InvalidArgumentError,
        'itBehavesLikeAToolIndex(contract, { describe, it })',
      );
    } finally {
      runner.it = original;
    }
  });
});
