import { existsSync, readFileSync } from 'node:fs';
import type { JsonSchema } from '../src/chat/tool-definition.js';

/** Published tools and questions; the data lies beside the repository. */
const FOLDER = new URL('../../shared/toolsets/', import.meta.url);

/** A tool as it was published. */
export interface PublishedTool {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly server?: string;
  readonly category?: string;
}

/** A question, and the ids of the tools that answer it; of a list among them any one will do. */
export interface PublishedQuery {
  readonly query: string;
  readonly relevant: readonly (string | readonly string[])[];
}

/** The questions of each set, and the catalogue that they are put to. */
export const QUERY_SETS = [
  ['bfcl-live', 'bfcl-live'],
  ['bfcl-v1', 'bfcl-v1'],
  ['seal', 'seal'],
  ['livemcp-steps', 'livemcp'],
  ['livemcp', 'livemcp'],
] as const;

/** Whether the data is there. */
export const hasToolsets = existsSync(FOLDER);

/** Skips a test where the data is missing, and says so; in CI that is a failure. */
export function requireToolsets(test: Mocha.Context): void {
  if (hasToolsets) return;
  const reason = 'no tool sets: ../shared/toolsets is missing';
  if (process.env['CI'] === 'true') throw new Error(reason);
  console.log(`skipped: ${reason}`);
  test.skip();
}

/** The objects of a file, none if it is missing. */
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
