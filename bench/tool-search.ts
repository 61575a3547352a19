// Recall, time, memory and token savings of the tool search. See bench/README.md.
import { encode } from 'gpt-tokenizer';
import { KeywordToolIndex, RegexToolIndex } from '../src/index.js';
import { toolSearchReport, type CatalogueTool } from '../src/cli/report/tool-search-report.js';
import type { ToolReference } from '../advisors/tool-search/index.js';
import { hasToolsets, QUERY_SETS, readQueries, readTools } from '../test/support/toolsets.js';
import { leaveOneOut } from './tool-search-tuning.js';
import { usersWithSimilarTools } from './tool-search-users.js';

if (!hasToolsets) throw new Error('../shared/toolsets is missing: there is nothing to search in');

/** recall@5 of others on the same data: BM25 by hand, Lucene as Spring AI uses it (emulated), minisearch tuned. */
const OTHERS: Readonly<
  Record<string, readonly [bm25: number, lucene: number, minisearch: number]>
> = {
  'bfcl-live': [84.9, 59.2, 84.0],
  'bfcl-v1': [91.8, 80.6, 90.2],
  seal: [90.1, 68.7, 86.0],
  'livemcp-steps': [74.1, 64.8, 72.2],
  livemcp: [33.8, 18.2, 30.1],
};

const percent = (share: number): string => (100 * share).toFixed(1);
const countTokens = (text: string): number => encode(text).length;

async function quality(): Promise<void> {
  console.log(
    '| questions | tools | recall@1 | recall@5 | recall@10 | MRR@10 | BM25 by hand @5 | Lucene @5 | minisearch @5 |',
  );
  console.log(
    '| --------- | ----: | -------: | -------: | --------: | -----: | --------------: | --------: | ------------: |',
  );
  const large: number[] = [];
  for (const [questions, catalogue] of QUERY_SETS) {
    const tools = readTools(catalogue);
    const { recall, meanReciprocalRank } = await toolSearchReport({
      tools,
      queries: readQueries(questions),
      toolIndex: new KeywordToolIndex(),
    });
    if (questions === catalogue && catalogue !== 'livemcp') large.push(recall.at5);
    const own = [recall.at1, recall.at5, recall.at10].map(percent).join(' | ');
    console.log(
      `| ${questions} | ${tools.length} | ${own} | ${meanReciprocalRank.toFixed(3)} | ${OTHERS[questions]?.join(' | ')} |`,
    );
  }
  console.log(
    `mean recall@5 of the three large sets: ${percent(large.reduce((sum, one) => sum + one, 0) / large.length)}\n`,
  );
}

/** As many tools as wanted: the published ones, and further versions of them under other names. */
function catalogueOf(size: number): readonly ToolReference[] {
  const all = ['bfcl-live', 'bfcl-v1', 'seal', 'livemcp'].flatMap(readTools);
  return Array.from({ length: size }, (_, at) => {
    // a prime number of steps, so that each size has tools of all sets
    const { name, description, inputSchema } = all[
      (at * 7_919) % all.length
    ] as (typeof all)[number];
    const version = Math.floor(at / all.length);
    return { name: version > 0 ? `${name}_v${version}` : name, description, inputSchema };
  });
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
const share = (values: readonly number[], at: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * at)] as number;

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function heap(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
}

function speed(): void {
  const queries = QUERY_SETS.flatMap(([questions]) => readQueries(questions)).map(
    ({ query }) => query,
  );
  console.log(
    '| tools | index, first | index, median | memory | search p50 | search p99 | longest | add one tool |',
  );
  console.log(
    '| ----: | -----------: | ------------: | -----: | ---------: | ---------: | ------: | -----------: |',
  );
  for (const size of [100, 1_000, 10_000, 100_000]) {
    const before = heap();
    const toolIndex = new KeywordToolIndex();
    const references = catalogueOf(size);
    const builds = [timed(() => toolIndex.index({ session: 'a', references }))];
    const memory = heap() - before;
    for (let at = 0; at < (size > 10_000 ? 2 : 6); at++) {
      const again = catalogueOf(size);
      builds.push(timed(() => new KeywordToolIndex().index({ session: 'a', references: again })));
    }
    const search = (query: string): number =>
      timed(() => toolIndex.search({ session: 'a', query, maxResults: 5 }));
    for (const query of queries) search(query);
    // of each query the median of five, so that what else happens on the machine is not counted as its time
    const times = queries.map((query) => median(Array.from({ length: 5 }, () => search(query))));
    const added = timed(() =>
      toolIndex.add({
        session: 'a',
        references: [{ name: 'new', description: 'New.', inputSchema: {} }],
      }),
    );
    const milliseconds = [share(times, 0.5), share(times, 0.99), Math.max(...times), added].map(
      (time) => `${time.toFixed(3)} ms`,
    );
    const [first = 0] = builds;
    console.log(
      `| ${size.toLocaleString('en')} | ${first.toFixed(0)} ms | ${median(builds).toFixed(0)} ms | ${memory.toFixed(1)} MB | ${milliseconds.join(' | ')} |`,
    );
  }
  console.log(
    globalThis.gc
      ? ''
      : 'memory is of no use without --expose-gc: node --expose-gc --import tsx bench/tool-search.ts\n',
  );
}

/** Questions that ask for each tool by its name. */
const byName = (tools: readonly CatalogueTool[]) =>
  tools.map(({ id, name }) => ({ query: name.replaceAll(/[_-]/g, ' '), relevant: [id ?? name] }));

async function tokens(): Promise<void> {
  const livemcp = readTools('livemcp');
  const few = livemcp.filter((_, at) => at % Math.floor(livemcp.length / 28) === 0).slice(0, 28);
  for (const [tools, queries] of [
    [livemcp, readQueries('livemcp-steps')],
    [few, byName(few)],
  ] as const) {
    const report = await toolSearchReport({
      tools,
      queries,
      toolIndex: new KeywordToolIndex(),
      countTokens,
    });
    const { all, withSearch, saved, breakEvenTools } = report.tokens;
    console.log(
      `${tools.length} tools: definitions of ${all} tokens in each request; behind a search ${Math.round(withSearch)}: ` +
        `${percent(saved)} % saved; it pays from ${breakEvenTools} tools on`,
    );
  }
}

/** Queries of an attacker that aim at slow searches. */
const ATTACKS = [
  '(a+)+$',
  '(a|a)*b',
  '(.*)*x',
  '(a?){100}a{100}',
  '(x+x+)+y',
  String.raw`[\w\s]*[\w\s]*[\w\s]*!`,
  String.raw`(\w+\s?)+$`,
  '[a-m].{190}9',
  '[a-m].{14}9',
  '(a|b|ab)*(a?){90}c',
  '.*'.repeat(60),
  'a'.repeat(100_000),
  'get '.repeat(25_000),
  '('.repeat(1_000),
];

async function attacks(): Promise<void> {
  const references = catalogueOf(527).map((reference) => ({
    ...reference,
    description: reference.description.padEnd(1_000, 'abc '),
  }));
  for (const toolIndex of [new KeywordToolIndex(), new RegexToolIndex()]) {
    toolIndex.index({ session: 'a', references });
    const times: { readonly query: string; readonly time: number }[] = [];
    for (const query of ATTACKS) {
      const start = performance.now();
      try {
        await toolIndex.search({ session: 'a', query });
      } catch {
        // a pattern that is refused is an answer
      }
      times.push({ query: query.slice(0, 30), time: performance.now() - start });
    }
    const worst = times.toSorted((a, b) => b.time - a.time)[0];
    console.log(
      `${toolIndex.constructor.name}: ${times.length} attacks on 527 tools, longest ${worst?.time.toFixed(1)} ms (${worst?.query})`,
    );
  }
}

await quality();
leaveOneOut();
speed();
usersWithSimilarTools();
await tokens();
await attacks();
