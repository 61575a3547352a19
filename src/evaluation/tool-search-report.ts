import { TurnId } from '../chat/context.js';
import type { JsonSchema, ToolDefinition } from '../chat/tool-definition.js';
import { InvalidArgumentError } from '../errors.js';
import { describe } from '../internal/text.js';
import { checkOption, rule, TEXT } from '../internal/options.js';
import { searchResultText } from '../tool-search/discoveries.js';
import { searchTool } from '../tool-search/search-tool.js';
import type { ToolIndex, ToolReference } from '../tool-search/tool-index.js';

/** A query with the tools that a search should find. */
export interface LabelledQuery {
  readonly query: string;
  /** Ids of the relevant tools, or their names; any one suffices of a list among them. */
  readonly relevant: readonly (string | readonly string[])[];
}

/** A tool of a catalogue. */
export interface CatalogueTool {
  /** @default the name */
  readonly id?: string | undefined;
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: JsonSchema | undefined;
  readonly category?: string | undefined;
}

/** Options of {@link toolSearchReport}. */
export interface ToolSearchReportOptions {
  readonly tools: readonly CatalogueTool[];
  readonly queries: readonly LabelledQuery[];
  readonly toolIndex: ToolIndex;
  /** Maximum number of tools of a search, as in the advisor; affects only the tokens. @default 5 */
  readonly maxResults?: number | undefined;
  /** Number of tokens of a text. @default a quarter of its characters */
  readonly countTokens?: ((text: string) => number) | undefined;
}

/** Quality, time and token savings of an index on a catalogue. */
export interface ToolSearchReport {
  readonly tools: number;
  readonly queries: number;
  /** Mean share of the relevant tools among the first 1, 5 and 10 results; 0 to 1. */
  readonly recall: { readonly at1: number; readonly at5: number; readonly at10: number };
  /** Mean reciprocal rank of the first relevant tool among the first 10 results; 0 to 1. */
  readonly meanReciprocalRank: number;
  readonly tokens: {
    /** Tokens of the definitions of all tools, sent with each request without a search. */
    readonly all: number;
    /** Tokens of search tool, result and found definitions after a search; mean over the queries. */
    readonly withSearch: number;
    /** Share of tokens saved by a search; negative if it costs more. */
    readonly saved: number;
    /** Number of tools from which a search saves tokens. */
    readonly breakEvenTools: number;
  };
  /** In milliseconds. */
  readonly time: {
    readonly index: number;
    readonly median: number;
    readonly p99: number;
    readonly longest: number;
  };
  /** Queries without a relevant tool among the first 10 results. */
  readonly missed: readonly LabelledQuery[];
  /** Formats the figures as lines of text. */
  toString(): string;
}

/** Number of results that are evaluated. */
const DEPTH = 10;

/**
 * Measures an index on a catalogue of tools and labelled queries.
 * @throws {@link InvalidArgumentError} without tools or queries, or if a relevant tool is unknown
 */
export async function toolSearchReport(
  options: ToolSearchReportOptions,
): Promise<ToolSearchReport> {
  const { tools, queries, toolIndex, maxResults = 5 } = options;
  checkCatalogue(tools, queries);
  const references = tools.map(toReference);
  const session = `report ${new TurnId().id}`;
  try {
    const start = performance.now();
    await toolIndex.index({ session, references });
    const indexTime = performance.now() - start;
    const searches: Search[] = [];
    for (const query of queries) {
      const request = { session, query: query.query, maxResults: Math.max(DEPTH, maxResults) };
      const begin = performance.now();
      const response = await toolIndex.search(request);
      const milliseconds = performance.now() - begin;
      // an index may return references of its own, which have no id
      const found = response.references.map((one) => ({ id: one.name, ...one }));
      searches.push({ query, found, milliseconds });
    }
    return toReport(searches, references, indexTime, options);
  } finally {
    await toolIndex.clear(session);
  }
}

type Identified = ToolReference & { readonly id: string };

/** A query with its results. */
interface Search {
  readonly query: LabelledQuery;
  readonly found: readonly Identified[];
  readonly milliseconds: number;
}

function toReport(
  searches: readonly Search[],
  references: readonly Identified[],
  index: number,
  options: ToolSearchReportOptions,
): ToolSearchReport {
  const times = searches.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const quantile = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] as number;
  const report = {
    tools: references.length,
    queries: searches.length,
    recall: {
      at1: mean(searches, (one) => recall(one, 1)),
      at5: mean(searches, (one) => recall(one, 5)),
      at10: mean(searches, (one) => recall(one, 10)),
    },
    meanReciprocalRank: mean(searches, reciprocalRank),
    tokens: countTokens(searches, references, options),
    time: { index, median: quantile(0.5), p99: quantile(0.99), longest: quantile(1) },
    missed: searches.filter((one) => recall(one, DEPTH) === 0).map(({ query }) => query),
  };
  // not enumerable: the report is plain data for JSON
  return Object.defineProperty(report, 'toString', { value: () => format(report) });
}

function mean(searches: readonly Search[], figure: (search: Search) => number): number {
  return searches.reduce((sum, one) => sum + figure(one), 0) / searches.length;
}

function recall({ query: { relevant }, found }: Search, depth: number): number {
  const ids = new Set(found.slice(0, depth).map(({ id }) => id));
  const hits = relevant.filter((wanted) => [wanted].flat().some((id) => ids.has(id)));
  return hits.length / relevant.length;
}

function reciprocalRank({ query: { relevant }, found }: Search): number {
  const wanted = new Set(relevant.flat());
  const rank = found.slice(0, DEPTH).findIndex(({ id }) => wanted.has(id));
  return rank < 0 ? 0 : 1 / (rank + 1);
}

function countTokens(
  searches: readonly Search[],
  references: readonly Identified[],
  options: ToolSearchReportOptions,
): ToolSearchReport['tokens'] {
  const { maxResults = 5, countTokens: count = (text) => Math.ceil(text.length / 4) } = options;
  const sizes = references.map((reference) => count(definitionText(reference)));
  const sizeById = new Map(references.map(({ id }, at) => [id, sizes[at] as number]));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const searchToolSize = count(definitionText(searchTool('toolSearchTool', maxResults).definition));
  const withSearch = mean(searches, ({ found }) => {
    const shown = found.slice(0, maxResults);
    const definitions = shown.reduce((sum, { id }) => sum + (sizeById.get(id) ?? 0), 0);
    return searchToolSize + count(searchResultText(shown)) + definitions;
  });
  return {
    all,
    withSearch,
    saved: 1 - withSearch / all,
    breakEvenTools: Math.ceil(withSearch / (all / references.length)),
  };
}

/** Formats a definition in the way of a provider's API. */
function definitionText({ name, description, inputSchema }: ToolDefinition): string {
  const definition = { name, description, parameters: inputSchema };
  return JSON.stringify({ type: 'function', function: definition });
}

function toReference(tool: CatalogueTool): Identified {
  const { id = tool.name, description = '', inputSchema = { type: 'object' } } = tool;
  return { ...tool, id, description, inputSchema };
}

const LIST = rule('an array of at least one', (value) => Array.isArray(value) && value.length > 0);

function checkCatalogue(tools: readonly CatalogueTool[], queries: readonly LabelledQuery[]): void {
  checkOption('toolSearchReport', 'tools', tools, LIST);
  checkOption('toolSearchReport', 'queries', queries, LIST);
  const ids = new Set(tools.map(({ id, name }) => id ?? name));
  for (const [at, { query, relevant }] of queries.entries()) {
    checkOption('toolSearchReport', `queries[${at}].query`, query, TEXT);
    checkOption('toolSearchReport', `queries[${at}].relevant`, relevant, LIST);
    const unknown = relevant.flat().find((id) => !ids.has(id));
    if (unknown !== undefined)
      throw new InvalidArgumentError(
        `toolSearchReport: queries[${at}].relevant has ${describe(unknown)}, which is not among the tools`,
      );
  }
}

function format(report: Omit<ToolSearchReport, 'toString'>): string {
  const { recall, tokens, time, missed } = report;
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  const milliseconds = (value: number): string => `${value.toFixed(3)} ms`;
  const saved =
    tokens.saved < 0 ? `${percent(-tokens.saved)} more` : `${percent(tokens.saved)} saved`;
  return [
    `${report.tools} tools, ${report.queries} queries`,
    `recall@1 ${percent(recall.at1)}, recall@5 ${percent(recall.at5)}, ` +
      `recall@10 ${percent(recall.at10)}, MRR ${report.meanReciprocalRank.toFixed(3)}`,
    `tokens of definitions: ${tokens.all} for all tools, ${Math.round(tokens.withSearch)} ` +
      `with search, ${saved}; it pays from ${tokens.breakEvenTools} tools on`,
    `time: index ${time.index.toFixed(1)} ms; search median ${milliseconds(time.median)}, ` +
      `p99 ${milliseconds(time.p99)}, longest ${milliseconds(time.longest)}`,
    ...missed
      .slice(0, 1)
      .map(({ query }) => `nothing found for ${missed.length} queries, such as: ${query}`),
  ].join('\n');
}
