import { expect } from 'chai';
import {
  scheduleCalls,
  type ScheduledCall,
} from '../../../src/core/tool-execution/schedule-calls.js';
import { deferred, settled } from '../../support/promises.js';
import fc from 'fast-check';
import { sweep } from '../../support/sweep.js';

/** A call as a test writes it: what it works on, whether it only reads, and which of several groups it is one of. */
interface Plan {
  readonly key?: string | undefined;
  readonly reads?: boolean;
  readonly group?: number | undefined;
  /** Steps before it ends; none: it ends at once. */
  readonly steps?: number;
}

const GROUPS = [{ max: 1 }, { max: 2 }, { max: 3 }, { max: Infinity }] as const;

/** A recorded batch. */
class Watch {
  readonly begun: number[] = [];
  readonly ended: number[] = [];
  readonly running = new Set<number>();
  most = 0;
  readonly mostOfGroup = new Map<number, number>();
  /** For each call, those that were running when it began. */
  readonly beside: number[][] = [];

  constructor(private readonly plans: readonly Plan[]) {}

  begin(at: number): void {
    this.begun.push(at);
    this.beside[at] = [...this.running];
    this.running.add(at);
    this.most = Math.max(this.most, this.running.size);
    const { group } = this.plans[at] as Plan;
    if (group === undefined) return;
    const together = [...this.running].filter((one) => this.plans[one]?.group === group).length;
    this.mostOfGroup.set(group, Math.max(this.mostOfGroup.get(group) ?? 0, together));
  }

  end(at: number): number {
    this.running.delete(at);
    this.ended.push(at);
    return at;
  }
}

function callsOf(plans: readonly Plan[], watch: Watch): ScheduledCall<number>[] {
  return plans.map(({ key, reads, group, steps = 1 }, at) => {
    const run = (): number | Promise<number> => {
      watch.begin(at);
      if (steps === 0) return watch.end(at);
      return (async () => {
        for (let left = steps; left > 0; left--) await Promise.resolve();
        return watch.end(at);
      })();
    };
    const limits =
      group === undefined ? {} : { group: GROUPS[group], maxOfGroup: GROUPS[group]?.max };
    return { run, key, reads, ...limits };
  });
}

function conflict(a: Plan, b: Plan): boolean {
  return a.key !== undefined && a.key === b.key && !(a.reads && b.reads);
}

const plan: fc.Arbitrary<Plan> = fc.record({
  key: fc.option(fc.constantFrom('a', 'b', 'c', ''), { nil: undefined }),
  reads: fc.boolean(),
  group: fc.option(fc.nat(3), { nil: undefined }),
  steps: fc.nat(5),
});

describe('scheduleCalls', () => {
  it('[F37] finishes every batch within its limits, with conflicting calls sequential in call order', async () => {
    const batches = fc.tuple(
      fc.array(plan, { maxLength: 24 }),
      fc.constantFrom(1, 2, 3, 8, Infinity),
    );
    let together = 0;
    await fc.assert(
      fc.asyncProperty(batches, async ([plans, max]) => {
        const watch = new Watch(plans);
        const results = await scheduleCalls(callsOf(plans, watch), max);

        expect(results).to.deep.equal(plans.map((_, at) => at));
        expect(watch.most).to.be.at.most(max);
        for (const [group, most] of watch.mostOfGroup)
          expect(most).to.be.at.most(GROUPS[group]?.max ?? 0);
        watch.beside.forEach((others, at) => {
          for (const other of others)
            expect(
              conflict(plans[at] as Plan, plans[other] as Plan),
              `${other} beside ${at}`,
            ).to.equal(false);
        });
        plans.forEach((later, at) =>
          plans.slice(0, at).forEach((earlier, before) => {
            if (conflict(earlier, later))
              expect(watch.begun.indexOf(before)).to.be.lessThan(watch.begun.indexOf(at));
          }),
        );
        together += watch.most > 1 ? 1 : 0;
      }),
      { numRuns: 2_000 },
    );
    expect(together).to.be.greaterThan(500);
  });

  it('starts every call as early as possible', async () => {
    const hold = fc.record({
      key: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
      reads: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(hold, { minLength: 1, maxLength: 12 }), async (plans) => {
        const gates = plans.map(() => deferred());
        const begun: number[] = [];
        const running = scheduleCalls(
          plans.map((one, at) => ({
            ...one,
            run: () => (begun.push(at), (gates[at] as (typeof gates)[number]).promise),
          })),
          Infinity,
        );
        const free = plans.flatMap((later, at) =>
          plans.slice(0, at).some((earlier) => conflict(earlier, later)) ? [] : [at],
        );

        expect(begun).to.deep.equal(free);
        for (const gate of gates) gate.resolve();
        await running;
        expect(begun.toSorted((a, b) => a - b)).to.deep.equal(plans.map((_, at) => at));
      }),
      { numRuns: sweep(6_000) },
    );
  });

  const traces: Readonly<
    Record<
      string,
      readonly [plans: readonly Plan[], max: number, rounds: readonly (readonly number[])[]]
    >
  > = {
    'reads together, a writer after them, reads after it': [
      [
        { key: 'k', reads: true },
        { key: 'k', reads: true },
        { key: 'k' },
        { key: 'k', reads: true },
        { key: 'k', reads: true },
      ],
      8,
      [[0, 1], [2], [3, 4]],
    ],
    'writers one after another': [[{ key: 'k' }, { key: 'k' }, { key: 'k' }], 8, [[0], [1], [2]]],
    'a read that came after a writer not before it': [
      [{ key: 'k', reads: true }, { key: 'k' }, { key: 'k', reads: true }],
      8,
      [[0], [1], [2]],
    ],
    'keys beside each other': [
      [{ key: 'a' }, { key: 'b' }, { key: 'a' }, { key: 'b' }],
      8,
      [
        [0, 1],
        [2, 3],
      ],
    ],
    'an empty key is a key': [[{ key: '' }, { key: '' }], 8, [[0], [1]]],
    'those without a key beside all': [[{ key: 'a' }, {}, { key: 'a' }, {}], 8, [[0, 1, 3], [2]]],
    'those that wait hold no place': [
      [{ key: 'a' }, { key: 'a' }, {}, {}],
      2,
      [
        [0, 2],
        [1, 3],
      ],
    ],
    'a group at most as often as it may': [
      [{ group: 1 }, { group: 1 }, { group: 1 }, {}],
      8,
      [[0, 1, 3], [2]],
    ],
    'a full group does not hold up others': [
      [{ group: 0 }, { group: 0 }, {}, {}],
      2,
      [
        [0, 2],
        [1, 3],
      ],
    ],
    'the key of a full group holds up later calls of the key': [
      [{ group: 0 }, { group: 0, key: 'k' }, { key: 'k' }],
      8,
      [[0], [1], [2]],
    ],
  };
  for (const [what, [plans, max, rounds]] of Object.entries(traces)) {
    it(`runs ${what}`, async () => {
      const watch = new Watch(plans);
      const gates = plans.map(() => deferred());
      const calls = callsOf(plans, watch).map((call, at) => ({
        ...call,
        run: async () => (watch.begin(at), await gates[at]?.promise, watch.end(at)),
      }));
      const running = scheduleCalls(calls, max);
      const seen: number[][] = [];
      while (watch.ended.length < plans.length) {
        await settled();
        const now = [...watch.running];
        seen.push(now);
        for (const at of now) gates[at]?.resolve();
        await settled();
        if (now.length === 0) break;
      }
      await running;

      expect(seen).to.deep.equal(rounds);
    });
  }

  it('treats a limit below 1 as 1', async () => {
    const group = {};
    const results = await scheduleCalls(
      [0, -1, Number.NaN].map((maxOfGroup, at) => ({
        run: () => Promise.resolve(at),
        group,
        maxOfGroup,
      })),
      2,
    );

    expect(results).to.deep.equal([0, 1, 2]);
  });

  it('rejects if a call rejects, rather than hang', async () => {
    const broken = (): Promise<number> => Promise.reject(new Error('broken'));
    for (const key of [undefined, 'k']) {
      const failure = await scheduleCalls(
        [
          { run: broken, key },
          { run: () => 1, key },
        ],
        8,
      ).catch((error: unknown) => error);
      expect(failure).to.have.property('message', 'broken');
    }
  });

  it('finishes a batch without calls', async () => {
    expect(await scheduleCalls([], 8)).to.deep.equal([]);
  });

  it('handles 20,000 calls with the same key', async () => {
    const plans = Array.from({ length: 20_000 }, (_, at): Plan => ({
      key: 'k',
      reads: at % 10 !== 0,
      steps: 0,
    }));
    expect(await scheduleCalls(callsOf(plans, new Watch(plans)), 8)).to.have.length(20_000);
  });
});
