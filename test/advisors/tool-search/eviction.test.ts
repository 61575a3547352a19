import { expect } from 'chai';
import fc from 'fast-check';
import {
  AlwaysEviction,
  CompositeEviction,
  LruEviction,
  NeverEviction,
  TtlEviction,
  type EvictionStrategy,
} from '../../../advisors/tool-search/index.js';
import { InvalidArgumentError } from '../../../src/index.js';
import { sweep } from '../../support/sweep.js';

/** Uses sessions one after another and removes those that are evicted; returns all of them. */
function evictions(strategy: EvictionStrategy, ...sessions: readonly string[]): readonly string[] {
  return sessions.flatMap((session) => {
    const gone = strategy.onAccess(session);
    for (const one of gone) strategy.onRemoved(one);
    return gone;
  });
}

/** A strategy with a manual clock. */
function ttl(milliseconds: number): {
  readonly strategy: TtlEviction;
  readonly wait: (milliseconds: number) => void;
} {
  let now = 1_000;
  return { strategy: new TtlEviction(milliseconds, () => now), wait: (more) => void (now += more) };
}

describe('AlwaysEviction', () => {
  it('[TST-36] evicts the session that is used and ignores removals', () => {
    const strategy = new AlwaysEviction();

    expect(strategy.onAccess('a')).to.deep.equal(['a']);
    strategy.onRemoved();
    expect(strategy.onAccess('a')).to.deep.equal(['a']);
  });
});

describe('NeverEviction', () => {
  it('evicts nothing', () => {
    expect(evictions(new NeverEviction(), 'a', 'b', 'a')).to.deep.equal([]);
  });

  it('[D32] takes the session, like every strategy', () => {
    const strategy = new NeverEviction();
    strategy.onRemoved('a');

    expect(strategy.onAccess('a')).to.deep.equal([]);
  });
});

describe('LruEviction', () => {
  it('[TST-39] evicts nothing below its limit', () => {
    expect(evictions(new LruEviction(3), 'a', 'b', 'c', 'a', 'b', 'c')).to.deep.equal([]);
  });

  it('[TST-40] evicts the least recently used session', () => {
    expect(evictions(new LruEviction(2), 'a', 'b', 'c')).to.deep.equal(['a']);
    expect(evictions(new LruEviction(2), 'a', 'b', 'a', 'c')).to.deep.equal(['b']);
  });

  it('[TST-42] [F84] never evicts the session that is used', () => {
    expect(evictions(new LruEviction(1), 'a', 'a')).to.deep.equal([]);
    expect(evictions(new LruEviction(1), 'a', 'b', 'a')).to.deep.equal(['a', 'b']);
  });

  it('does not count removed sessions', () => {
    const strategy = new LruEviction(2);
    evictions(strategy, 'a', 'b');
    strategy.onRemoved('a');
    strategy.onRemoved('unknown');

    expect(evictions(strategy, 'c', 'b')).to.deep.equal([]);
  });

  it('keeps a thousand sessions by default', () => {
    const sessions = Array.from({ length: 1_001 }, (_, at) => `s${at}`);

    expect(evictions(new LruEviction(), ...sessions)).to.deep.equal(['s0']);
  });

  it('keeps exactly the most recently used sessions', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'abcdef')),
        fc.integer({ min: 1, max: 4 }),
        (sessions, most) => {
          const strategy = new LruEviction(most);
          let kept: readonly string[] = [];
          for (const session of sessions) {
            const before = [...kept.filter((one) => one !== session), session];
            kept = before.slice(-most);
            expect(evictions(strategy, session)).to.deep.equal(before.slice(0, -most));
          }
        },
      ),
      { numRuns: sweep(2_000) },
    );
  });

  for (const value of [0, -1, 1.5, Number.NaN, Infinity, '3', null])
    it(`[TST-44] rejects maxSessions: ${JSON.stringify(value)} (${String(value)})`, () => {
      expect(() => new LruEviction(value as number)).to.throw(
        InvalidArgumentError,
        'maxSessions must be',
      );
    });
});

describe('TtlEviction', () => {
  it('[TST-45] keeps sessions that were just used', () => {
    const { strategy } = ttl(50);

    expect(evictions(strategy, 'a', 'b', 'a')).to.deep.equal([]);
  });

  it('[TST-46] evicts an idle session when another one is used', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a');
    wait(60);

    expect(evictions(strategy, 'b')).to.deep.equal(['a']);
    expect(evictions(strategy, 'b')).to.deep.equal([]);
  });

  it('measures from the last use', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a', 'b');
    wait(40);
    evictions(strategy, 'a');
    wait(40);

    expect(evictions(strategy, 'c')).to.deep.equal(['b']);
  });

  it('evicts all idle sessions except the one that is used', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a', 'b', 'c');
    wait(1_000);

    expect(evictions(strategy, 'b')).to.deep.equal(['a', 'c']);
  });

  it('evicts exactly at the time limit', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a');
    wait(49);
    expect(evictions(strategy, 'b')).to.deep.equal([]);
    wait(1);
    expect(evictions(strategy, 'b')).to.deep.equal(['a']);
  });

  it('does not return removed sessions', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a');
    strategy.onRemoved('a');
    strategy.onRemoved('unknown');
    wait(60);

    expect(evictions(strategy, 'b')).to.deep.equal([]);
  });

  it('returns a session again that was not removed', () => {
    const { strategy, wait } = ttl(50);
    strategy.onAccess('a');
    wait(60);

    expect([strategy.onAccess('b'), strategy.onAccess('b')]).to.deep.equal([['a'], ['a']]);
  });

  it('has a clock by default', () => {
    const strategy = new TtlEviction(3_600_000);

    expect(evictions(strategy, 'a', 'b')).to.deep.equal([]);
  });

  for (const value of [0, -1, Number.NaN, 'soon', undefined])
    it(`[TST-49] rejects milliseconds: ${String(value)}`, () => {
      expect(() => new TtlEviction(value as number)).to.throw(
        InvalidArgumentError,
        'milliseconds must be',
      );
    });
});

describe('CompositeEviction', () => {
  it('[TST-50] evicts the sessions of any strategy once and passes removals to all', () => {
    const { strategy, wait } = ttl(50);
    const composite = new CompositeEviction(new LruEviction(2), strategy);
    evictions(composite, 'a', 'b');
    wait(60);

    expect(evictions(composite, 'c')).to.deep.equal(['a', 'b']);
    expect(evictions(composite, 'd')).to.deep.equal([]);
    expect(evictions(composite, 'e')).to.deep.equal(['c']);
  });

  it('[TST-51] rejects an empty list of strategies', () => {
    expect(() => new CompositeEviction()).to.throw(
      InvalidArgumentError,
      'give at least one strategy',
    );
  });

  it('[TST-51] behaves like its only strategy', () => {
    const sessions = [...'abacbdaae'];

    expect(evictions(new CompositeEviction(new LruEviction(2)), ...sessions)).to.deep.equal(
      evictions(new LruEviction(2), ...sessions),
    );
  });
});
