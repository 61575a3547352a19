import fc, { type Arbitrary } from 'fast-check';

/** Problem of a case in words, and the number of the known defect that explains it. */
export interface Verdict {
  readonly problem?: string | undefined;
  readonly known?: string | undefined;
}

/** A sweep over random cases that are data. */
export interface CaseSweep<T> {
  readonly name: string;
  readonly cases: Arbitrary<T>;
  readonly check: (value: T) => Promise<Verdict>;
  /** Cases that are simpler by one step; a find is reduced to one of which none is bad. */
  readonly simpler: (value: T) => Iterable<T>;
}

/** Counts of a sweep. */
export interface SweepReport {
  readonly cases: number;
  readonly known: Readonly<Record<string, number>>;
  /** Finds in words: seed, reduced case and problem. */
  readonly bad: readonly string[];
}

/** Cases that are checked at the same time: some wait for leases. */
const AT_ONCE = 8;
/** Finds that are reduced; of the others the number counts. */
const REDUCED = 3;

/** Checks a number of cases of a seed. */
export async function sweepCases<T>(
  { name, cases, check, simpler }: CaseSweep<T>,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<SweepReport> {
  const all = fc.sample(cases, { seed, numRuns: count });
  const known: Record<string, number> = {};
  const bad: string[] = [];
  const checkOne = async (value: T): Promise<void> => {
    const verdict = await check(value);
    if (verdict.problem === undefined) return;
    if (verdict.known !== undefined)
      return void (known[verdict.known] = (known[verdict.known] ?? 0) + 1);
    bad.push(bad.length < REDUCED ? '' : `${name}, seed ${seed}: ${verdict.problem}`);
    const place = bad.length - 1;
    if (place < REDUCED) bad[place] = await reduced(value, verdict.problem);
  };
  const reduced = async (value: T, problem: string): Promise<string> => {
    const [least, why] = await reduce(value, problem, check, simpler);
    return `${name}, seed ${seed}: ${JSON.stringify(least)}\n${why}`;
  };
  for (let at = 0; at < all.length; at += AT_ONCE)
    await Promise.all(all.slice(at, at + AT_ONCE).map(checkOne));
  return { cases: all.length, known, bad };
}

/** The simplest bad case that single steps lead to, with its problem. */
async function reduce<T>(
  value: T,
  problem: string,
  check: CaseSweep<T>['check'],
  simpler: CaseSweep<T>['simpler'],
): Promise<readonly [T, string]> {
  for (const candidate of simpler(value)) {
    const verdict = await check(candidate);
    if (verdict.problem !== undefined && verdict.known === undefined)
      return reduce(candidate, verdict.problem, check, simpler);
  }
  return [value, problem];
}
