// Memory and time of an index whose users have similar, but different tools. See bench/README.md.
import { KeywordToolIndex } from '../src/index.js';
import type { ToolReference } from '../advisors/tool-search/index.js';
import { QUERY_SETS, readQueries, readTools } from '../test/support/toolsets.js';

const USERS = 500;
const TOOLS = 1_000;

const queries = QUERY_SETS.flatMap(([questions]) => readQueries(questions))
  .filter((_, at) => at % 5 === 0)
  .map(({ query }) => query);

/** After garbage of earlier measurements, which one collection may leave, has gone. */
function megabytes(): number {
  let [used, before] = [0, Infinity];
  do {
    before = used || Infinity;
    globalThis.gc?.();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    used = (heapUsed + arrayBuffers) / 2 ** 20;
  } while (before - used > 0.01);
  return used;
}

/** Numbers from 0 to below 1, the same in each run. */
function randomNumbers(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

interface Measured {
  readonly index: KeywordToolIndex;
  readonly memory: number;
  /** Of each user, in milliseconds. */
  readonly time: number;
}

/** A function of its own: a list that the caller still has would be counted as memory of the index. */
function indexUser(index: KeywordToolIndex, user: number, tools: readonly string[]): void {
  // each user receives definitions of its own, as from a server
  const references = tools.map((json) => JSON.parse(json) as ToolReference);
  index.index({ session: `user ${user}`, references });
}

function measure(users: number, toolsOf: (user: number) => readonly string[]): Measured {
  const before = megabytes();
  const index = new KeywordToolIndex();
  const start = performance.now();
  for (let user = 0; user < users; user++) indexUser(index, user, toolsOf(user));
  const time = (performance.now() - start) / users;
  return { index, memory: megabytes() - before, time };
}

function p99(index: KeywordToolIndex, session: string): number {
  const timed = (query: string): number => {
    const start = performance.now();
    index.search({ session, query, maxResults: 5 });
    return performance.now() - start;
  };
  for (const query of queries) timed(query);
  const times = queries.map((query) => Math.min(timed(query), timed(query), timed(query)));
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] as number;
}

/** Prints what 500 users cost, each with 90 % of the tools, beside one user with all of them. */
export function usersWithSimilarTools(): void {
  const all = ['bfcl-live', 'bfcl-v1', 'seal', 'livemcp'].flatMap(readTools);
  const pool = Array.from({ length: Math.round(TOOLS / 0.9) }, (_, at) => {
    const { name, description, inputSchema } = all[(at * 7_919) % all.length] as (typeof all)[0];
    return JSON.stringify({ name, description, inputSchema });
  });
  const random = randomNumbers();
  measure(2, () => pool); // compiles the code
  const one = measure(1, () => pool);
  const many = measure(USERS, () => pool.filter(() => random() < 0.9));
  const row = ({ index, memory, time }: Measured, user: number): string =>
    `${memory.toFixed(1)} MB, ${time.toFixed(1)} ms to index, p99 ${p99(index, `user ${user}`).toFixed(3)} ms`;
  console.log(`one user with ${pool.length} tools: ${row(one, 0)}`);
  console.log(`${USERS} users, each with 90 % of them: ${row(many, USERS - 1)} for each user`);
  console.log(`memory of ${USERS} users / one: ${(many.memory / one.memory).toFixed(2)}\n`);
}
