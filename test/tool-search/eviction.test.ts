import { expect } from 'chai';
import fc from 'fast-check';
import {
  AlwaysEviction,
  CompositeEviction,
  InvalidArgumentError,
  LruEviction,
  NeverEviction,
  TtlEviction,
  type EvictionStrategy,
} from '../../src/index.js';

/** What goes when these sessions are used one after another; what goes is removed. */
function evictions(strategy: EvictionStrategy, ...sessions: readonly string[]): readonly string[] {
  return sessions.flatMap((session) => {
    const gone = strategy.onAccess(session);
    for (const one of gone) strategy.onRemoved(one);
    return gone;
  });
}

/** A clock that is set by hand, and what it tells the time to. */
function ttl(milliseconds: number): { readonly strategy: TtlEviction; readonly wait: (milliseconds: number) => void } {
  let now = 1_000;
  return { strategy: new TtlEviction(milliseconds, () => now), wait: (more) => void (now += more) };
}

describe('AlwaysEviction', () => {
  it('[TST-36] forgets the session that is used, and ignores what is removed', () => {
    const strategy = new AlwaysEviction();

    expect(strategy.onAccess('a')).to.deep.equal(['a']);
    strategy.onRemoved();
    expect(strategy.onAccess('a')).to.deep.equal(['a']);
  });
});

describe('NeverEviction', () => {
  it('forgets nothing', () => {
    expect(evictions(new NeverEviction(), 'a', 'b', 'a')).to.deep.equal([]);
  });
});

describe('LruEviction', () => {
  it('[TST-39] forgets nothing while there is room', () => {
    expect(evictions(new LruEviction(3), 'a', 'b', 'c', 'a', 'b', 'c')).to.deep.equal([]);
  });

  it('[TST-40] forgets what was used least recently', () => {
    expect(evictions(new LruEviction(2), 'a', 'b', 'c')).to.deep.equal(['a']);
    expect(evictions(new LruEviction(2), 'a', 'b', 'a', 'c')).to.deep.equal(['b']);
  });

  it('[TST-42] [F84] forgets nothing when the one session is used again, and never the one that is used', () => {
    expect(evictions(new LruEviction(1), 'a', 'a')).to.deep.equal([]);
    expect(evictions(new LruEviction(1), 'a', 'b', 'a')).to.deep.equal(['a', 'b']);
  });

  it('has room again when a session was removed', () => {
    const strategy = new LruEviction(2);
    evictions(strategy, 'a', 'b');
    strategy.onRemoved('a');
    strategy.onRemoved('unknown');

    expect(evictions(strategy, 'c', 'b')).to.deep.equal([]);
  });

  it('keeps a thousand if nobody says', () => {
    const sessions = Array.from({ length: 1_001 }, (_, at) => `s${at}`);

    expect(evictions(new LruEviction(), ...sessions)).to.deep.equal(['s0']);
  });

  it('keeps exactly the sessions that were used last', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'abcdef')), fc.integer({ min: 1, max: 4 }), (sessions, most) => {
        const strategy = new LruEviction(most);
        let kept: readonly string[] = [];
        for (const session of sessions) {
          const before = [...kept.filter((one) => one !== session), session];
          kept = before.slice(-most);
          expect(evictions(strategy, session)).to.deep.equal(before.slice(0, -most));
        }
      }),
    );
  });

  for (const value of [0, -1, 1.5, Number.NaN, Infinity, '3', null])
    it(`[TST-44] refuses room for ${JSON.stringify(value)} (${String(value)}) sessions`, () => {
      expect(() => new LruEviction(value as number)).to.throw(InvalidArgumentError, 'maxSessions must be');
    });
});

describe('TtlEviction', () => {
  it('[TST-45] forgets nothing that was just used', () => {
    const { strategy } = ttl(50);

    expect(evictions(strategy, 'a', 'b', 'a')).to.deep.equal([]);
  });

  it('[TST-46] forgets what was idle for too long when another session is used', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a');
    wait(60);

    expect(evictions(strategy, 'b')).to.deep.equal(['a']);
    expect(evictions(strategy, 'b')).to.deep.equal([]);
  });

  it('counts from the last use', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a', 'b');
    wait(40);
    evictions(strategy, 'a');
    wait(40);

    expect(evictions(strategy, 'c')).to.deep.equal(['b']);
  });

  it('forgets all that are idle, but not the one that is used', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a', 'b', 'c');
    wait(1_000);

    expect(evictions(strategy, 'b')).to.deep.equal(['a', 'c']);
  });

  it('draws the line at the time itself', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a');
    wait(49);
    expect(evictions(strategy, 'b')).to.deep.equal([]);
    wait(1);
    expect(evictions(strategy, 'b')).to.deep.equal(['a']);
  });

  it('does not name what was removed', () => {
    const { strategy, wait } = ttl(50);
    evictions(strategy, 'a');
    strategy.onRemoved('a');
    strategy.onRemoved('unknown');
    wait(60);

    expect(evictions(strategy, 'b')).to.deep.equal([]);
  });

  it('names again what was not removed', () => {
    const { strategy, wait } = ttl(50);
    strategy.onAccess('a');
    wait(60);

    expect([strategy.onAccess('b'), strategy.onAccess('b')]).to.deep.equal([['a'], ['a']]);
  });

  it('has a clock of its own', () => {
    const strategy = new TtlEviction(3_600_000);

    expect(evictions(strategy, 'a', 'b')).to.deep.equal([]);
  });

  for (const value of [0, -1, Number.NaN, 'soon', undefined])
    it(`[TST-49] refuses a time of ${String(value)}`, () => {
      expect(() => new TtlEviction(value as number)).to.throw(InvalidArgumentError, 'milliseconds must be');
    });
});

describe('CompositeEviction', () => {
  it('[TST-50] forgets what any would forget, each once, and tells all what was removed', () => {
    const { strategy, wait } = ttl(50);
    const composite = new CompositeEviction(new LruEviction(2), strategy);
    evictions(composite, 'a', 'b');
    wait(60);

    expect(evictions(composite, 'c')).to.deep.equal(['a', 'b']);
    expect(evictions(composite, 'd')).to.deep.equal([]);
    expect(evictions(composite, 'e')).to.deep.equal(['c']);
  });

  it('[TST-51] refuses to be of nothing', () => {
    expect(() => new CompositeEviction()).to.throw(InvalidArgumentError, 'give one strategy or more');
  });

  it('[TST-51] of one behaves as that one', () => {
    const sessions = [...'abacbdaae'];

    expect(evictions(new CompositeEviction(new LruEviction(2)), ...sessions)).to.deep.equal(evictions(new LruEviction(2), ...sessions));
  });
});
