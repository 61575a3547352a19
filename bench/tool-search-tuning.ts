// Chooses numbers of the keyword ranking without the set that they are measured on. See bench/README.md.
import { KeywordSearch } from '../src/stores/tool-indexes/keyword/keyword-search.js';
import { readQuery } from '../src/stores/tool-indexes/keyword/keyword-query.js';
import { RANKING, type Ranking } from '../src/stores/tool-indexes/keyword/ranking.js';
import { ToolLibrary } from '../src/stores/tool-indexes/keyword/tool-library.js';
import { QUERY_SETS, readQueries, readTools } from '../test/support/toolsets.js';

/** recall@5 by set, in percent. */
type Recalls = readonly number[];

interface Setting {
  readonly ranking: Ranking;
  readonly recalls: Recalls;
}

const CATALOGUES = new Map(QUERY_SETS.map(([, catalogue]) => [catalogue, readTools(catalogue)]));
const QUESTIONS = QUERY_SETS.map(([questions, catalogue]) => ({
  catalogue,
  questions: readQueries(questions).map(({ query, relevant }) => ({
    keywords: readQuery(query),
    relevant,
  })),
}));

export function recallsOf(ranking: Ranking): Recalls {
  const library = new ToolLibrary(ranking, Infinity);
  const selections = new Map(
    [...CATALOGUES].map(([catalogue, tools]) => [catalogue, library.acquire(tools)]),
  );
  return QUESTIONS.map(({ catalogue, questions }) => {
    const selection = selections.get(catalogue)!;
    const shares = questions.map(({ keywords, relevant }) => {
      const found = new KeywordSearch(library, selection, keywords, new Map()).find(5, undefined);
      const ids = found.map(({ slot }) => (library.toolAt(slot).reference as { id?: string }).id);
      const hits = relevant.filter((wanted) => [wanted].flat().some((id) => ids.includes(id)));
      return hits.length / relevant.length;
    });
    return 100 * mean(shares);
  });
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function settings(): readonly Setting[] {
  const rankings = [0.5, 0.65, 0.75].flatMap((lengthPenalty) =>
    [0, 0.25, 0.5].flatMap((nameShare) =>
      [0, 0.2].map((feedback) => ({ ...RANKING, lengthPenalty, nameShare, feedback })),
    ),
  );
  return rankings.map((ranking) => ({ ranking, recalls: recallsOf(ranking) }));
}

/** Prints for each set its recall with the setting that is best on the other four. */
export function leaveOneOut(): void {
  const all = settings();
  console.log('| left out | lengthPenalty | nameShare | feedback | its recall@5 | shipped |');
  console.log('| -------- | ------------: | --------: | -------: | -----------: | ------: |');
  const shipped = recallsOf(RANKING);
  const leftOut = QUERY_SETS.map(([name], at) => {
    const others = ({ recalls }: Setting): number => mean(recalls.filter((_, set) => set !== at));
    const [best] = all.toSorted((a, b) => others(b) - others(a)) as [Setting];
    const { lengthPenalty, nameShare, feedback } = best.ranking;
    const recalls = [best.recalls[at], shipped[at]].map((one) => one?.toFixed(1)).join(' | ');
    console.log(`| ${name} | ${lengthPenalty} | ${nameShare} | ${feedback} | ${recalls} |`);
    return best.recalls[at] as number;
  });
  const means = `left out ${mean(leftOut).toFixed(1)}, shipped setting ${mean(shipped).toFixed(1)}`;
  const spread = all.map(({ recalls }) => mean(recalls));
  const range = `${Math.min(...spread).toFixed(1)} to ${Math.max(...spread).toFixed(1)}`;
  console.log(`mean of the five sets: ${means}; all ${all.length} settings ${range}\n`);
}
