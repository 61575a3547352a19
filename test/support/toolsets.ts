import { existsSync, readFileSync } from 'node:fs';
import type { JsonSchema } from '../../src/core/chat/tool-definition.js';

/** Folder of published tools and questions, beside the repository. */
const FOLDER = new URL('../../../shared/toolsets/', import.meta.url);

/** A tool as it was published. */
export interface PublishedTool {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly server?: string;
  readonly category?: string;
}

/** A question with the ids of the relevant tools; any one suffices of a list among them. */
export interface PublishedQuery {
  readonly query: string;
  readonly relevant: readonly (string | readonly string[])[];
}

/** The sets of questions, each with its catalogue. */
export const QUERY_SETS = [
  ['bfcl-live', 'bfcl-live'],
  ['bfcl-v1', 'bfcl-v1'],
  ['seal', 'seal'],
  ['livemcp-steps', 'livemcp'],
  ['livemcp', 'livemcp'],
] as const;

/** True if the data is present. */
export const hasToolsets = existsSync(FOLDER);

/** Skips a test without the data; fails in CI. */
export function requireToolsets(test: Mocha.Context): void {
  if (hasToolsets) return;
  const reason = 'no tool sets: ../shared/toolsets is missing';
  if (process.env['CI'] === 'true') throw new Error(reason);
  console.log(`skipped: ${reason}`);
  test.skip();
}

/** Reads the objects of a file; none if it is missing. */
export function readLines<T>(file: string): readonly T[] {
  const url = new URL(file, FOLDER);
  if (!existsSync(url)) return [];
  const lines = readFileSync(url, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

export function readTools(set: string): readonly PublishedTool[] {
  return readLines(`${set}.tools.jsonl`);
}

export function readQueries(set: string): readonly PublishedQuery[] {
  return readLines(`${set}.queries.jsonl`);
}
