import { expect } from 'chai';
import fc from 'fast-check';
import type { ToolReference } from '../../../advisors/tool-search/index.js';
import { ToolSets, type ToolSetBuilder } from '../../../src/stores/tool-indexes/tool-sets.js';
import { tool } from '../../support/tool-index-laws.js';
import { sweep } from '../../support/sweep.js';

interface Built {
  readonly names: readonly string[];
}

const namesOf = (references: readonly ToolReference[]): readonly string[] =>
  references.map(({ name }) => name);

/** Counts its calls. */
class CountingBuilder implements ToolSetBuilder<Built> {
  readonly counts = { build: 0 };
  readonly discarded: Built[] = [];

  readonly build = (references: readonly ToolReference[]): Built => {
    this.counts.build++;
    return { names: namesOf(references) };
  };

  readonly discard = (built: Built): void => {
    this.discarded.push(built);
  };
}

/** Maximum number of unused sets that are kept. */
const MOST_IDLE = 8;

describe('ToolSets', () => {
  const [a, b, c] = [tool('a'), tool('b'), tool('c')] as const;
  let builder: CountingBuilder;
  let sets: ToolSets<Built>;

  beforeEach(() => {
    builder = new CountingBuilder();
    sets = new ToolSets(builder);
  });

  it('builds once for a thousand sessions with the same tools', () => {
    const built = sets.set({ session: 'first', references: [a, b] });
    for (let at = 0; at < 1_000; at++)
      sets.set({ session: `s${at}`, references: structuredClone([a, b]) });

    expect(builder.counts).to.deep.equal({ build: 1 });
    for (let at = 0; at < 1_000; at++) expect(sets.get(`s${at}`)).to.equal(built);
  });

  it('shares a set in another order', () => {
    const built = sets.set({ session: 's', references: [a, b, c] });

    expect(sets.set({ session: 't', references: [c, a, b] })).to.equal(built);
  });

  for (const [what, changed] of Object.entries({
    name: { name: 'x' },
    description: { description: 'x' },
    schema: { inputSchema: { type: 'object', title: 'x' } },
    category: { category: 'x' },
  } as const))
    it(`[F84] does not share a set with another ${what}`, () => {
      const built = sets.set({ session: 's', references: [a, b] });

      expect(sets.set({ session: 't', references: [a, { ...b, ...changed }] })).to.not.equal(built);
    });

  it('does not share a set with a repeated tool', () => {
    const built = sets.set({ session: 's', references: [a, b] });

    expect(sets.set({ session: 't', references: [a, b, b] })).to.not.equal(built);
    expect(sets.set({ session: 'u', references: [a, a, b] })).to.not.equal(sets.get('t'));
  });

  it('does nothing for a session with the same tools', () => {
    const built = sets.set({ session: 's', references: [a] });

    expect(sets.set({ session: 's', references: [{ ...a }] })).to.equal(built);
    expect(builder.counts).to.deep.equal({ build: 1 });
  });

  it('[F84] does not change a shared set', () => {
    const built = sets.set({ session: 's', references: [a] });
    sets.set({ session: 't', references: [a] });
    sets.set({ session: 't', references: [a, b] });

    expect(sets.get('s'))
      .to.equal(built)
      .and.to.deep.equal({ names: ['a'] });
    expect(sets.get('t')).to.deep.equal({ names: ['a', 'b'] });
  });

  it('builds again for other tools', () => {
    const built = sets.set({ session: 's', references: [a] });

    expect(sets.set({ session: 's', references: [b] })).to.not.equal(built);
    expect(sets.set({ session: 's', references: [a] })).to.equal(built);
    expect(builder.counts.build).to.equal(2);
  });

  it('keeps an unused set and shares it again', () => {
    const built = sets.set({ session: 's', references: [a] });
    sets.delete('s');

    expect(sets.get('s')).to.equal(undefined);
    expect(sets.set({ session: 't', references: [a] })).to.equal(built);
    expect(builder.discarded).to.deep.equal([]);
  });

  it('discards the sets unused for longest, each once', () => {
    const built = Array.from({ length: MOST_IDLE + 2 }, (_, at) =>
      sets.set({ session: `s${at}`, references: [tool(`t${at}`)] }),
    );
    for (const at of built.keys()) sets.delete(`s${at}`);

    expect(builder.discarded).to.deep.equal(built.slice(0, 2));
  });

  it('does not discard the set that a session joins', () => {
    const sessions = Array.from({ length: MOST_IDLE }, (_, at) => ({
      session: `s${at}`,
      references: [tool(`t${at}`)],
    }));
    const [oldest] = sessions.map((request) => sets.set(request));
    for (const { session } of sessions) sets.delete(session);
    sets.set({ session: 'u', references: [a] });

    expect(sets.set({ session: 'u', references: sessions[0]?.references ?? [] })).to.equal(oldest);
    expect(builder.discarded).to.deep.equal([]);
    expect(sets.get('u')).to.equal(oldest);
  });

  it('notices that a list has grown', () => {
    const list = [a];
    sets.set({ session: 's', references: list });
    list.push(b);

    expect(sets.set({ session: 's', references: list }).names).to.deep.equal(['a', 'b']);
  });

  it('builds from a copy: what happens to the list later changes no set', () => {
    const lists = new ToolSets({ build: (references) => references });
    const list = [a];
    const built = lists.set({ session: 's', references: list });
    list[0] = b;

    expect(namesOf(built)).to.deep.equal(['a']);
  });

  it('does not discard a set that is used again', () => {
    const built = sets.set({ session: 's', references: [a] });
    sets.delete('s');
    sets.set({ session: 's', references: [a] });
    for (let at = 0; at < 20; at++) {
      sets.set({ session: 'other', references: [tool(`t${at}`)] });
      sets.delete('other');
    }

    expect(sets.get('s')).to.equal(built);
    expect(builder.discarded).to.not.include(built);
  });

  it('keeps a bounded number of sets for one session', () => {
    for (let at = 0; at < 100; at++) sets.set({ session: 's', references: [tool(`t${at}`)] });

    expect(builder.counts.build - builder.discarded.length).to.equal(MOST_IDLE + 1);
  });

  it('ignores an unknown session', () => {
    sets.delete('unknown');

    expect(sets.get('unknown')).to.equal(undefined);
  });

  it('forgets a set and builds it again', () => {
    const built = sets.set({ session: 's', references: [a] });
    sets.set({ session: 't', references: [a] });
    sets.set({ session: 'u', references: [b] });
    sets.forget(built);
    sets.forget(built);

    expect([sets.get('s'), sets.get('t'), builder.discarded]).to.deep.equal([
      undefined,
      undefined,
      [built],
    ]);
    expect(sets.get('u')).to.deep.equal({ names: ['b'] });
    expect(sets.set({ session: 's', references: [a] })).to.not.equal(built);
  });

  it('keeps the set of a session if building fails', () => {
    sets = new ToolSets({
      build: (references) => {
        if (references.includes(b)) throw new Error('cannot be built');
        return builder.build(references);
      },
    });
    const built = sets.set({ session: 's', references: [a] });

    expect(() => sets.set({ session: 's', references: [b] })).to.throw('cannot be built');
    expect(sets.get('s')).to.equal(built);
    expect(sets.set({ session: 's', references: [a] })).to.equal(built);
  });

  it('[F84] keeps hostile sessions apart', () => {
    const sessions = ['__proto__', 'constructor', 'toString', '', '\u0000'];
    for (const session of sessions) sets.set({ session, references: [tool(`of ${session}`)] });

    for (const session of sessions)
      expect(sets.get(session)?.names).to.deep.equal([`of ${session}`]);
    expect(sets.get('valueOf')).to.equal(undefined);
  });

  it('[F84] keeps the tools of each session through any sequence of calls', () => {
    const pool = Array.from({ length: 5 }, (_, at) => tool(`t${at}`));
    const step = fc.record({
      session: fc.constantFrom('s', 't', 'u'),
      references: fc.option(fc.subarray(pool), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        builder = new CountingBuilder();
        sets = new ToolSets(builder);
        const expected = new Map<string, readonly string[]>();
        for (const { session, references } of steps) {
          if (references) sets.set({ session, references });
          else sets.delete(session);
          expected.set(session, namesOf(references ?? []));
          for (const [one, names] of expected)
            expect([...(sets.get(one)?.names ?? [])].sort()).to.deep.equal(names);
        }

        expect(new Set(builder.discarded).size).to.equal(builder.discarded.length);
        for (const session of expected.keys())
          expect(builder.discarded).to.not.include(sets.get(session));
      }),
      { numRuns: sweep(2_000) },
    );
  });
});
