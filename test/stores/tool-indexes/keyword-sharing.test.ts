import { expect } from 'chai';
import fc from 'fast-check';
import {
  HybridToolIndex,
  InvalidArgumentError,
  KeywordToolIndex,
  RegexToolIndex,
} from '../../../src/index.js';
import { RANKING } from '../../../src/stores/tool-indexes/keyword/ranking.js';
import { ToolLibrary } from '../../../src/stores/tool-indexes/keyword/tool-library.js';
import { ToolSelection } from '../../../src/stores/tool-indexes/keyword/tool-selection.js';
import type { ToolReference } from '../../../advisors/tool-search/index.js';
import { namesOf, tool } from '../../support/tool-index-laws.js';
import { sweep } from '../../support/sweep.js';
import { cpuTime } from '../../support/cpu-time.js';

const WORDS = ['read', 'write', 'weather', 'mail', 'city', 'the', 'map', 'GitHub'];
const POOL = Array.from({ length: 40 }, (_, at) => {
  const word = (step: number): string => WORDS[(at * 3 + step * 5) % WORDS.length] as string;
  return tool(`${word(0)}_${word(1)}_${at % 15}`, `${word(2)} ${word(3)}`.repeat(1 + (at % 2)), {
    ...(at % 3 === 0 && { category: word(1) }),
  });
});
const QUERIES = [...WORDS, 'read the weather. write a mail', 'github map city', ''];

/** Lists that are passed again and again, as by a client with its tools. */
const LISTS = [POOL, POOL.slice(0, 5), POOL.slice(3, 20), POOL.toReversed()];

/** Some tools of the pool, in any order, also as copies; or one of the lists. */
const SOME: fc.Arbitrary<readonly ToolReference[]> = fc.oneof(
  fc.shuffledSubarray(POOL),
  fc.shuffledSubarray(POOL).map((some) => structuredClone(some)),
  fc.constantFrom(...LISTS),
);

const answersOf = (index: KeywordToolIndex, session: string) =>
  QUERIES.map((query) =>
    index
      .search({ session, query })
      .references.map(({ name, description, score = 0 }) => [name, description, score.toFixed(9)]),
  );

/** The number of tools that a library has analysed. */
const countOf = (library: ToolLibrary): number => library.tools.length;

describe('KeywordToolIndex with sets that differ per user', () => {
  for (const maxUnusedBytes of [0, 3_000, Infinity])
    it(`[F84] ranks for each session as if it were alone, with ${maxUnusedBytes} unused bytes`, () => {
      const step = fc.record({
        session: fc.constantFrom('s', 't', 'u'),
        references: fc.option(SOME, { nil: undefined, freq: 4 }),
      });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 10 }), (steps) => {
          const index = new KeywordToolIndex({ maxUnusedBytes });
          const expected = new Map<string, readonly ToolReference[]>();
          for (const { session, references } of steps) {
            if (references) index.index({ session, references });
            else index.clear(session);
            expected.set(session, references ?? []);
          }
          for (const [session, references] of expected) {
            const alone = new KeywordToolIndex();
            alone.index({ session, references });

            expect(answersOf(index, session)).to.deep.equal(answersOf(alone, session));
          }
        }),
        { numRuns: sweep(300) },
      );
    });

  it('analyses a tool once for all users that have it', () => {
    const library = new ToolLibrary(RANKING, Infinity);
    for (let user = 0; user < 50; user++)
      library.acquire(structuredClone([...POOL.slice(0, 36), tool(`own_${user}`)]));

    expect(countOf(library)).to.equal(36 + 50);
  });

  it('distinguishes tools by everything that a reference has', () => {
    const library = new ToolLibrary(RANKING, Infinity);
    const one = tool('a', 'A tool.');
    const others = [
      { ...one, inputSchema: { type: 'object', title: 'x' } },
      { ...one, category: 'x' },
      { ...one, id: 7 },
    ] as const;
    for (const other of [one, ...others]) library.acquire([other]);

    expect(countOf(library)).to.equal(4);
  });

  it('takes schemas that are no plain JSON, and compares a bounded number of equal hashes', () => {
    const cyclic: Record<string, unknown> = { type: 'object' };
    cyclic['properties'] = { self: cyclic };
    const index = new KeywordToolIndex();
    const references = [
      tool('loop', 'Loops.', { inputSchema: cyclic }),
      ...Array.from({ length: 3_000 }, (_, at) =>
        tool('loop', 'Loops.', { inputSchema: { type: 'object', title: `${at}` } }),
      ),
    ];
    const spent = cpuTime();
    for (const session of ['s', 't']) index.index({ session, references });

    // without a bound 4,500,000 pairs of schemas would be compared
    expect(spent()).to.be.lessThan(5_000);
    expect(index.size('t')).to.equal(3_001);
  });

  it('shares equal selections, and a few bytes suffice for one of its own', () => {
    const order = Array.from({ length: 1_000 }, (_, at) => at);
    const inserted = order.toSpliced(500, 10, ...Array.from({ length: 10 }, (_, at) => 1_000 + at));

    for (const slots of [order, inserted, order.toReversed(), [5, 3, 4], [7], []]) {
      const selection = new ToolSelection(slots, 1, 1);
      expect(selection.slots()).to.deep.equal(slots);
      expect(selection.equals(new ToolSelection(slots, 1, 1))).to.equal(true);
      expect(selection.equals(new ToolSelection([...slots, 2_000], 1, 1))).to.equal(false);
    }
    expect(
      new ToolSelection(order, 1, 1).equals(new ToolSelection(order.toReversed(), 1, 1)),
    ).to.equal(false);
  });

  it('costs memory by its own tools alone', () => {
    const far = 2 ** 22;
    const before = process.memoryUsage().arrayBuffers;
    const selections = Array.from(
      { length: 200 },
      (_, user) => new ToolSelection([0, 1, far + 300 * user, far + 300 * user + 1], 1, 1),
    );

    // a bit for each slot would take 100 MB
    expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(10 * 2 ** 20);
    expect(selections[7]?.slots()).to.deep.equal([0, 1, far + 2_100, far + 2_101]);
  });

  it('counts the tools of a session in postings of all users, whatever lies between them', () => {
    const slots = fc.uniqueArray(fc.nat({ max: 3_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(slots, slots, (ours, all) => {
        const posting = all.toSorted((a, b) => a - b).flatMap((slot) => [slot, 1]);
        const selection = new ToolSelection(ours, 1, 1);

        expect(selection.count(posting)).to.equal(all.filter((slot) => ours.includes(slot)).length);
        expect(selection.slots()).to.deep.equal(ours);
      }),
      { numRuns: sweep(2_000) },
    );
  });

  it('bounds unused tools by bytes, the longest unused first', () => {
    const library = new ToolLibrary(RANKING, Infinity);
    const { bytes } = library.acquire([tool('sized')]);
    const bounded = new ToolLibrary(RANKING, 10 * bytes);
    const kept = bounded.acquire([tool('kept_')]);
    for (let at = 0; at < 100; at++) {
      bounded.release(bounded.acquire([tool(`t_${at}`)]));
      expect(countOf(bounded)).to.be.at.most(12);
    }

    expect(bounded.tools.map(({ reference }) => reference.name)).to.include.members([
      'kept_',
      't_99',
    ]);
    expect(bounded.toolAt(kept.slots()[0]!).reference.name).to.equal('kept_');
  });

  it('counts a set that is used again and again once', () => {
    const { bytes } = new ToolLibrary(RANKING, 0).acquire([tool('sized')]);
    const library = new ToolLibrary(RANKING, 10 * bytes);
    library.release(library.acquire([tool('idle_')]));
    for (let at = 0; at < 100; at++) library.release(library.acquire([tool('again')]));

    expect(countOf(library)).to.equal(2);
  });

  it('finds tools again that were unused, without analysing them again', () => {
    const library = new ToolLibrary(RANKING, Infinity);
    library.release(library.acquire(POOL));
    library.acquire(structuredClone(POOL));

    expect(countOf(library)).to.equal(POOL.length);
  });

  it('keeps the tools of a set that was removed and is indexed again, while others have them', async () => {
    const index = new KeywordToolIndex({ maxUnusedBytes: 0 });
    const few = POOL.slice(0, 5);
    index.index({ session: 't', references: [...POOL] });
    index.index({ session: 's', references: few });
    index.clear('s');
    index.index({ session: 's', references: few });
    const before = answersOf(index, 's');
    index.clear('t');

    expect(answersOf(index, 's')).to.deep.equal(before);
    expect(index.size('s')).to.equal(5);
  });

  it('reads copies of tools that others have once for a list, unless the list changes', () => {
    let count = 0;
    const counted = (name: string): ToolReference => ({
      ...tool(name),
      get inputSchema() {
        count++;
        return { type: 'object' } as const;
      },
    });
    const library = new ToolLibrary(RANKING, Infinity);
    library.acquire([tool('a'), tool('b')]);
    const copies = [counted('a'), counted('b')];
    const first = library.acquire(copies);
    const before = count;
    for (let turn = 0; turn < 5; turn++) expect(library.acquire(copies)).to.equal(first);
    expect(count).to.equal(before);

    copies[1] = counted('c');
    expect(library.acquire(copies)).not.to.equal(first);
  });

  it('[D66] adds, replaces and removes a single tool for one user alone', async () => {
    const index = new KeywordToolIndex({ maxUnusedBytes: 0 });
    for (const session of ['s', 't']) index.index({ session, references: POOL.slice(0, 20) });
    const before = answersOf(index, 't');
    index.add({ session: 's', references: [tool('zebra', 'Has stripes.')] });
    index.add({ session: 's', references: [tool('zebra', 'Has spots.')] });

    expect(await namesOf(index, 'spots')).to.deep.equal(['zebra']);
    expect(await namesOf(index, 'stripes')).to.deep.equal([]);
    index.remove({ session: 's', names: ['zebra'] });
    expect(await namesOf(index, 'zebra')).to.deep.equal([]);
    expect(answersOf(index, 't')).to.deep.equal(before);
  });

  it('[D27] closes: no session is left, and the index can be used again', async () => {
    for (const index of [
      new KeywordToolIndex(),
      new RegexToolIndex(),
      new HybridToolIndex({ indexes: [new KeywordToolIndex(), new RegexToolIndex()] }),
    ]) {
      for (const session of ['s', 't']) await index.index({ session, references: POOL });
      await index.close();
      expect(await namesOf(index, 'weather')).to.deep.equal([]);
      expect(index.size('t')).to.equal(0);

      await index.index({ session: 's', references: POOL });
      expect(await namesOf(index, 'weather')).to.not.be.empty;
    }
  });

  for (const maxUnusedBytes of [-1, Number.NaN, '1'])
    it(`rejects maxUnusedBytes ${maxUnusedBytes}`, () => {
      expect(() => new KeywordToolIndex({ maxUnusedBytes: maxUnusedBytes as number })).to.throw(
        InvalidArgumentError,
        'maxUnusedBytes',
      );
    });
});
