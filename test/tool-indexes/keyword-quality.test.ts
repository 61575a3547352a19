import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { KeywordToolIndex, toolSearchReport, type CatalogueTool, type LabelledQuery, type ToolSearchReport } from '../../src/index.js';

const FOLDER = new URL('../../../shared/toolsets/', import.meta.url);

/** Catalogue, queries, and recall@5 as measured when this was written, in percent. */
const SETS = [
  ['bfcl-live', 'bfcl-live', 86.9],
  ['bfcl-v1', 'bfcl-v1', 92.7],
  ['seal', 'seal', 92.7],
  ['livemcp', 'livemcp-steps', 74.1],
  ['livemcp', 'livemcp', 37.7],
] as const;
const MARGIN = 0.4;
/** Of the three large sets. */
const LEAST_MEAN = 90.3;

function readLines<T>(file: string): readonly T[] {
  const lines = readFileSync(new URL(file, FOLDER), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

function requireToolsets(test: Mocha.Context): void {
  if (existsSync(FOLDER)) return;
  const reason = 'no tool sets: ../shared/toolsets is missing';
  if (process.env['CI'] === 'true') throw new Error(reason);
  console.log(`skipped: ${reason}`);
  test.skip();
}

function print(queries: string, { tools, queries: count, recall, meanReciprocalRank, time }: ToolSearchReport): void {
  const shares = [recall.at1, recall.at5, recall.at10, meanReciprocalRank].map((share) => (100 * share).toFixed(1).padStart(5)).join('  ');
  const times = `index ${time.index.toFixed(0)} ms, search ${time.median.toFixed(2)} ms, longest ${time.longest.toFixed(1)} ms`;
  console.log(`      ${queries.padEnd(14)} ${String(tools).padStart(5)} tools ${String(count).padStart(5)} queries  ${shares}  ${times}`);
}

describe('KeywordToolIndex on published tools', function () {
  this.timeout(120_000);
  this.slow(60_000);
  const recalls: number[] = [];

  before(function () {
    requireToolsets(this);
    console.log('      recall at 1, 5, 10 and mean reciprocal rank, in percent:');
  });

  for (const [catalogue, queries, measured] of SETS)
    it(`finds among five ${measured} % of what ${queries} asks for`, async () => {
      const report = await toolSearchReport({
        tools: readLines<CatalogueTool>(`${catalogue}.tools.jsonl`),
        queries: readLines<LabelledQuery>(`${queries}.queries.jsonl`),
        toolIndex: new KeywordToolIndex(),
      });

      print(queries, report);
      recalls.push(100 * report.recall.at5);
      expect(100 * report.recall.at5).to.be.at.least(measured - MARGIN);
    });

  it(`finds ${LEAST_MEAN} % of the three large sets on average`, () => {
    const mean = recalls.slice(0, 3).reduce((sum, recall) => sum + recall, 0) / 3;

    console.log(
      `      mean recall@5 of ${SETS.slice(0, 3)
        .map(([name]) => name)
        .join(', ')}: ${mean.toFixed(2)} %`,
    );
    expect(mean).to.be.at.least(LEAST_MEAN);
  });
});
