import { expect } from 'chai';
import { toolSearchReport } from '../../src/cli/report/tool-search-report.js';
import { KeywordToolIndex } from '../../src/index.js';
import { readQueries, readTools } from './toolsets.js';

/** Allowed decrease of recall@5, in percent. */
const MARGIN = 0.4;

/** Measures recall@5 of published questions in percent and compares it with the recorded value. */
export async function checkRecall(
  queries: string,
  catalogue: string,
  recorded: number,
): Promise<number> {
  const { recall, meanReciprocalRank, time } = await toolSearchReport({
    tools: readTools(catalogue),
    queries: readQueries(queries),
    toolIndex: new KeywordToolIndex(),
  });
  const shares = [recall.at1, recall.at5, recall.at10, meanReciprocalRank]
    .map((share) => (100 * share).toFixed(1).padStart(5))
    .join('  ');
  console.log(
    `      ${queries.padEnd(14)} ${shares}  index ${time.index.toFixed(0)} ms, search ${time.median.toFixed(2)} ms`,
  );
  expect(100 * recall.at5).to.be.at.least(recorded - MARGIN);
  return 100 * recall.at5;
}
