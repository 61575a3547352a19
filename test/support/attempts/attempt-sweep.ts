import type { StoreKind } from '../key-value-stores.js';
import type { CaseSweep, Verdict } from '../case-sweep.js';
import { inspectorOf, problemsOfInspection } from '../inspector-laws.js';
import type { SweepStores } from '../sweep-stores.js';
import { Operations, WAYS, type Disturbance } from './operations.js';
import { anyCase, type AttemptCase, type TurnPlan } from './turn-plan.js';
import { play, type Remains } from './turn-remains.js';
import { describeProblem, differences } from './turn-oracle.js';

/** An undisturbed turn, with the names of its operations. */
interface CleanTurn {
  readonly names: readonly string[];
  readonly remains: Remains;
}

/** Turns whose operations fail, each attempted until it ends: they must end like undisturbed ones. */
export function attemptSweep(
  stores: SweepStores,
  kinds?: readonly StoreKind[],
): CaseSweep<AttemptCase> {
  return {
    name: 'attempts',
    cases: anyCase(kinds),
    check: (value) => checkAttempts(value, stores),
    simpler: simplerCases,
  };
}

async function checkAttempts({ plan, disturbances }: AttemptCase, stores: SweepStores) {
  const clean = await playClean(plan, stores);
  const count = clean.names.length;
  return checkDisturbed(
    plan,
    clean,
    disturbances.map((each) => ({ ...each, at: each.at % count })),
    stores,
  );
}

/** Cases of a plan in which each operation is disturbed in each way. */
export async function checkAllOperations(
  plan: TurnPlan,
  stores: SweepStores,
): Promise<readonly Verdict[]> {
  const clean = await playClean(plan, stores);
  const all = clean.names.flatMap((_, at) => WAYS.map((way) => ({ at, way })));
  return Promise.all(all.map((each) => checkDisturbed(plan, clean, [each], stores)));
}

async function playClean(plan: TurnPlan, stores: SweepStores): Promise<CleanTurn> {
  const operations = new Operations();
  const remains = await play(plan, operations, await stores.open(plan.store));
  if (!remains.end.response || remains.nextError)
    throw new Error(
      `an undisturbed turn fails: ${JSON.stringify(plan)}: ${remains.end.errors[0] ?? remains.nextError}`,
    );
  return { names: operations.names, remains };
}

async function checkDisturbed(
  plan: TurnPlan,
  clean: CleanTurn,
  disturbances: readonly Disturbance[],
  stores: SweepStores,
): Promise<Verdict> {
  const operations = new Operations(disturbances);
  const inspector = inspectorOf(plan.inspection);
  const remains = await play(plan, operations, await stores.open(plan.store), inspector);
  const found = [
    ...differences(plan, operations, clean.remains, remains),
    ...(await problemsOfInspection(inspector, plan.inspection)),
  ];
  if (found.length === 0) return {};
  return { problem: describeProblem(operations, found, remains) };
}

/** Switches of a plan that are simpler when they are off. */
const SWITCHES = [
  'retry',
  'steering',
  'guard',
  'budget',
  'lock',
  'ledger',
  'isRestarted',
  'storesTools',
  'keepsPartial',
  'isMemoryInside',
] as const;

function* simplerCases({ plan, disturbances }: AttemptCase): Generator<AttemptCase> {
  if (disturbances.length > 1)
    for (const at of disturbances.keys())
      yield { plan, disturbances: disturbances.toSpliced(at, 1) };
  for (const simpler of simplerPlans(plan))
    // the operation has another number in another plan
    for (let back = 0; back < 12; back++)
      yield {
        plan: simpler,
        disturbances: disturbances.map(({ at, way }) => ({ at: Math.max(0, at - back), way })),
      };
}

function* simplerPlans(plan: TurnPlan): Generator<TurnPlan> {
  if (plan.turnsBefore > 0) yield { ...plan, turnsBefore: 0 };
  for (const at of plan.calls.keys()) yield { ...plan, calls: plan.calls.toSpliced(at, 1) };
  for (const [at, names] of plan.calls.entries())
    if (names.length > 1) yield { ...plan, calls: plan.calls.with(at, names.slice(1)) };
  for (const each of SWITCHES) if (plan[each]) yield { ...plan, [each]: false };
  if (plan.ids !== 'same') yield { ...plan, ids: 'same' };
  if (plan.mode !== 'call') yield { ...plan, mode: 'call' };
  if (plan.store !== 'memory') yield { ...plan, store: 'memory' };
  if (plan.kind !== 'plain') yield { ...plan, kind: 'plain' };
}
