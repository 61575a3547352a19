import { InvalidArgumentError } from '../../core/errors/argument-errors.js';

/** A mean with its 95 % confidence interval. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** A query with the tools that a search should find. */
export interface LabelledQuery {
  readonly query: string;
  /** Ids of the relevant tools, or their names; any one suffices of a list among them. */
  readonly relevant: readonly (string | readonly string[])[];
}

/** Share of the relevant tools among the first 1, 5 and 10 results, 0 to 1. */
export interface Recall<Figure = number> {
  readonly at1: Figure;
  readonly at5: Figure;
  readonly at10: Figure;
}

/** The result of a search, with its figures. */
export interface QueryResult extends LabelledQuery {
  /** Ids, or names, of the first 10 tools, best first. */
  readonly found: readonly string[];
  readonly recall: Recall;
  /** 1 / rank of the first relevant tool among the first 10, otherwise 0. */
  readonly reciprocalRank: number;
}

/** Means over all queries. */
export interface SearchQuality<Figure = number> {
  readonly recall: Recall<Figure>;
  readonly meanReciprocalRank: Figure;
}

/** Number of results that are evaluated. */
export const DEPTH = 10;
/** Number of queries that a report lists as its worst. */
const MAX_WORST = 10;

/** @param found ids of the results, best first */
export function resultOf(
  { query, relevant }: LabelledQuery,
  found: readonly string[],
): QueryResult {
  const recallAt = (depth: number): number => {
    const ids = new Set(found.slice(0, depth));
    const hits = relevant.filter((wanted) => [wanted].flat().some((id) => ids.has(id)));
    return hits.length / relevant.length;
  };
  const wanted = new Set(relevant.flat());
  const rank = found.slice(0, DEPTH).findIndex((id) => wanted.has(id));
  return {
    query,
    relevant,
    found: found.slice(0, DEPTH),
    recall: { at1: recallAt(1), at5: recallAt(5), at10: recallAt(DEPTH) },
    reciprocalRank: rank < 0 ? 0 : 1 / (rank + 1),
  };
}

/** Applies a function to the figures of all queries, one for each kind of figure. */
export function summarize<Figure>(
  results: readonly QueryResult[],
  summary: (figures: readonly number[]) => Figure,
): SearchQuality<Figure> {
  return {
    recall: {
      at1: summary(results.map(({ recall }) => recall.at1)),
      at5: summary(results.map(({ recall }) => recall.at5)),
      at10: summary(results.map(({ recall }) => recall.at10)),
    },
    meanReciprocalRank: summary(results.map(({ reciprocalRank }) => reciprocalRank)),
  };
}

/** The queries of lowest recall@5, then recall@10 and rank; none that found all among the first five. */
export function worstOf(results: readonly QueryResult[]): readonly QueryResult[] {
  return results
    .filter(({ recall }) => recall.at5 < 1)
    .sort(
      (a, b) =>
        a.recall.at5 - b.recall.at5 ||
        a.recall.at10 - b.recall.at10 ||
        a.reciprocalRank - b.reciprocalRank,
    )
    .slice(0, MAX_WORST);
}

/** A report about the same queries as another one. */
interface Comparable {
  readonly results: readonly QueryResult[];
}

/**
 * Compares two indexes by the reports of the same queries: the interval of the mean difference of
 * each figure (paired bootstrap, 95 %). Without 0 in it, the difference does not come from the
 * choice of the queries.
 * @throws {@link InvalidArgumentError} if the queries differ
 */
export function compareSearchReports(one: Comparable, other: Comparable): SearchQuality<Interval> {
  if (one.results.length !== other.results.length) throw notComparable();
  const differences = one.results.map((base, at) => {
    const result = other.results[at] as QueryResult;
    if (result.query !== base.query) throw notComparable();
    return {
      ...base,
      recall: {
        at1: result.recall.at1 - base.recall.at1,
        at5: result.recall.at5 - base.recall.at5,
        at10: result.recall.at10 - base.recall.at10,
      },
      reciprocalRank: result.reciprocalRank - base.reciprocalRank,
    };
  });
  return summarize(differences, meanInterval);
}

function notComparable(): InvalidArgumentError {
  return new InvalidArgumentError(
    'compareSearchReports: the reports must have the same queries in the same order',
  );
}

/** Resamples; more change the bounds by less than a tenth of a percent. */
const SAMPLES = 1_000;

/**
 * The mean of at least one value and its 95 % interval by the bootstrap. Lists of equal length are
 * sampled at the same places, so that intervals of several figures of the same queries are paired.
 */
export function meanInterval(values: readonly number[]): Interval {
  const random = randomNumbers();
  const means = Array.from({ length: SAMPLES }, () => {
    let sum = 0;
    for (let count = 0; count < values.length; count++)
      sum += values[Math.floor(random() * values.length)] as number;
    return sum / values.length;
  }).sort((a, b) => a - b);
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    low: means[Math.floor(0.025 * SAMPLES)] as number,
    high: means[Math.ceil(0.975 * SAMPLES) - 1] as number,
  };
}

/** Numbers from 0 to below 1, the same in each run (Park and Miller 1988). */
function randomNumbers(): () => number {
  let state = 20_240_229;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
