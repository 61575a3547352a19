import { randomUUID } from 'node:crypto';
import type { JsonSchema, ToolDefinition } from '../../core/chat/tool-definition.js';
import { tokensOfLength } from '../../core/chat/estimate-tokens.js';
import { InvalidArgumentError } from '../../core/errors/argument-errors.js';
import { describe } from '../../core/errors/describe.js';
import { checkOption, rule, TEXT } from '../../core/internal/options.js';
import { searchResultText } from '../../../advisors/tool-search/search-result-text.js';
import {
  searchSchema,
  searchToolDefinition,
} from '../../../advisors/tool-search/search-tool-definition.js';
import type { ToolIndex, ToolReference } from '../../stores/tool-indexes/tool-index.js';
import { formatReport } from './tool-search-format.js';
import {
  DEPTH,
  type Interval,
  type LabelledQuery,
  meanInterval,
  type QueryResult,
  type Recall,
  resultOf,
  type SearchQuality,
  summarize,
  worstOf,
} from './tool-search-quality.js';

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
  readonly recall: Recall;
  /** Mean reciprocal rank of the first relevant tool among the first 10 results; 0 to 1. */
  readonly meanReciprocalRank: number;
  /** The same figures with their 95 % confidence intervals (paired bootstrap). */
  readonly intervals: SearchQuality<Interval>;
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
  /** The ten queries of lowest recall@5; fewer if the others found all among the first five. */
  readonly worst: readonly QueryResult[];
  /** The result of each query, in their order. */
  readonly results: readonly QueryResult[];
  /** Formats the figures as lines of text. */
  toString(): string;
}

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
  const session = `report ${randomUUID()}`;
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
  const results = searches.map(({ query, found }) =>
    resultOf(
      query,
      found.map(({ id }) => id),
    ),
  );
  const report = {
    tools: references.length,
    queries: searches.length,
    ...summarize(results, mean),
    intervals: summarize(results, meanInterval),
    tokens: countTokens(searches, references, options),
    time: { index, median: quantile(0.5), p99: quantile(0.99), longest: quantile(1) },
    missed: searches.flatMap(({ query }, at) => (results[at]?.recall.at10 === 0 ? [query] : [])),
    worst: worstOf(results),
    results,
  };
  // not enumerable: the report is plain data for JSON
  return Object.defineProperty(report, 'toString', { value: () => formatReport(report) });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function countTokens(
  searches: readonly Search[],
  references: readonly Identified[],
  options: ToolSearchReportOptions,
): ToolSearchReport['tokens'] {
  const { maxResults = 5, countTokens: count = (text) => tokensOfLength(text.length) } = options;
  const sizes = references.map((reference) => count(definitionText(reference)));
  const sizeById = new Map(references.map(({ id }, at) => [id, sizes[at] as number]));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const search = searchToolDefinition('toolSearchTool', searchSchema(maxResults));
  const searchToolSize = count(definitionText(search));
  const sizesWithSearch = searches.map(({ found }) => {
    const shown = found.slice(0, maxResults);
    const definitions = shown.reduce((sum, { id }) => sum + (sizeById.get(id) ?? 0), 0);
    return searchToolSize + count(searchResultText(shown)) + definitions;
  });
  const withSearch = mean(sizesWithSearch);
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
