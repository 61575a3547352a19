import { describe } from '../chat/message.js';
import type { JsonSchema } from '../chat/tool-definition.js';
import { Turn } from '../chat/turn.js';
import { InvalidArgumentError } from '../errors.js';
import { searchResultText } from './search-result.js';
import { searchTool } from './search-tool.js';
import type { ToolIndex, ToolReference } from './tool-index.js';

/** A question of which is known what should be found. */
export interface LabelledQuery {
  readonly query: string;
  /** What must be found: ids of tools, or their names. Of a list among them any one will do. */
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

/** What is measured. */
export interface ToolSearchReportOptions {
  readonly tools: readonly CatalogueTool[];
  readonly queries: readonly LabelledQuery[];
  readonly toolIndex: ToolIndex;
  /** Most tools of a search, as the advisor has it; for the tokens. @default 5 */
  readonly maxResults?: number | undefined;
  /** Tokens of a text. @default a quarter of its characters */
  readonly countTokens?: ((text: string) => number) | undefined;
}

/** How well and how fast an index finds the tools of a catalogue, and what that saves. */
export interface ToolSearchReport {
  readonly tools: number;
  readonly queries: number;
  /** Mean share of what should be found that is among the first 1, 5 and 10; 0 to 1. */
  readonly recall: { readonly at1: number; readonly at5: number; readonly at10: number };
  /** Mean reciprocal rank of the first tool that should be found, of the first 10; 0 to 1. */
  readonly meanReciprocalRank: number;
  readonly tokens: {
    /** Definitions of all tools, in each request. */
    readonly all: number;
    /** Search tool, result, and definitions of what was found: mean over the queries, in the request after the search. */
    readonly withSearch: number;
    /** Share that a search saves; below 0 if it costs more. */
    readonly saved: number;
    /** From so many tools on a search saves tokens. */
    readonly breakEvenTools: number;
  };
  /** In milliseconds. */
  readonly time: { readonly index: number; readonly median: number; readonly p99: number; readonly longest: number };
  /** Queries of which nothing that should be found is among the first 10. */
  readonly missed: readonly LabelledQuery[];
  /** The figures as lines of text. */
  toString(): string;
}

const DEPTH = 10;

/**
 * Measures an index on a catalogue of one's own.
 * @throws {@link InvalidArgumentError} if there are no tools or no queries, or a query wants a tool that is not in the catalogue
 */
export async function toolSearchReport(options: ToolSearchReportOptions): Promise<ToolSearchReport> {
  const { tools, queries, toolIndex } = options;
  checkCatalogue(tools, queries);
  const references = tools.map(toReference);
  const session = `report ${new Turn().id}`;
  try {
    const start = performance.now();
    await toolIndex.index({ session, references });
    const index = performance.now() - start;
    const searches: Search[] = [];
    for (const query of queries) searches.push(await search(toolIndex, session, query, Math.max(DEPTH, options.maxResults ?? 0)));
    return summary(options, references, searches, index);
  } finally {
    await toolIndex.clear(session);
  }
}

/** A query and what came of it. */
interface Search {
  readonly query: LabelledQuery;
  readonly found: readonly Identified[];
  readonly milliseconds: number;
}

type Identified = ToolReference & { readonly id: string };

async function search(toolIndex: ToolIndex, session: string, query: LabelledQuery, maxResults: number): Promise<Search> {
  const start = performance.now();
  const { references } = await toolIndex.search({ session, query: query.query, maxResults });
  const milliseconds = performance.now() - start;
  // an index may give references of its own making, which have a name alone
  const found = references.map((reference) => ({ ...reference, id: (reference as Partial<Identified>).id ?? reference.name }));
  return { query, found, milliseconds };
}

function summary(
  options: ToolSearchReportOptions,
  references: readonly Identified[],
  searches: readonly Search[],
  index: number,
): ToolSearchReport {
  const times = searches.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] as number;
  const report = {
    tools: references.length,
    queries: searches.length,
    recall: { at1: meanOf(searches, recallAt(1)), at5: meanOf(searches, recallAt(5)), at10: meanOf(searches, recallAt(10)) },
    meanReciprocalRank: meanOf(searches, reciprocalRank),
    tokens: tokensOf(options, references, searches),
    time: { index, median: at(0.5), p99: at(0.99), longest: at(1) },
    missed: searches.filter((one) => recallAt(10)(one) === 0).map(({ query }) => query),
  };
  return Object.defineProperty(report, 'toString', { value: () => print(report) });
}

function recallAt(depth: number): (search: Search) => number {
  return ({ query: { relevant }, found }) => {
    const ids = new Set(found.slice(0, depth).map(({ id }) => id));
    return relevant.filter((wanted) => alternativesOf(wanted).some((id) => ids.has(id))).length / relevant.length;
  };
}

function reciprocalRank({ query: { relevant }, found }: Search): number {
  const wanted = new Set(relevant.flatMap(alternativesOf));
  const rank = found.slice(0, DEPTH).findIndex(({ id }) => wanted.has(id));
  return rank < 0 ? 0 : 1 / (rank + 1);
}

function alternativesOf(wanted: string | readonly string[]): readonly string[] {
  return typeof wanted === 'string' ? [wanted] : wanted;
}

function tokensOf(
  { maxResults = 5, countTokens = (text) => Math.ceil(text.length / 4) }: ToolSearchReportOptions,
  references: readonly Identified[],
  searches: readonly Search[],
): ToolSearchReport['tokens'] {
  const counted = references.map((reference) => ({ id: reference.id, size: countTokens(definitionText(reference)) }));
  const sizes = new Map(counted.map(({ id, size }) => [id, size]));
  const all = counted.reduce((sum, { size }) => sum + size, 0);
  const { definition } = searchTool({ name: 'toolSearchTool', maxResults, categories: [] });
  const own = countTokens(definitionText(definition));
  const withSearch = meanOf(searches, ({ found }) => {
    const shown = found.slice(0, maxResults);
    return own + countTokens(searchResultText(shown)) + shown.reduce((sum, { id }) => sum + (sizes.get(id) ?? 0), 0);
  });
  return { all, withSearch, saved: 1 - withSearch / all, breakEvenTools: Math.ceil(withSearch / (all / references.length)) };
}

/** A definition as it is sent. */
function definitionText({ name, description, inputSchema }: Pick<ToolReference, 'name' | 'description' | 'inputSchema'>): string {
  return JSON.stringify({ type: 'function', function: { name, description, parameters: inputSchema } });
}

function meanOf(searches: readonly Search[], figure: (search: Search) => number): number {
  return searches.reduce((sum, one) => sum + figure(one), 0) / searches.length;
}

function toReference({ id, name, description = '', inputSchema = { type: 'object' }, category }: CatalogueTool): Identified {
  return { id: id ?? name, name, description, inputSchema, ...(category !== undefined && { category }) };
}

function checkCatalogue(tools: readonly CatalogueTool[], queries: readonly LabelledQuery[]): void {
  for (const [name, list] of Object.entries({ tools, queries }))
    if (!Array.isArray(list) || list.length === 0)
      throw new InvalidArgumentError(`toolSearchReport: ${name} must be a list of one or more, not ${describe(list)}`);
  const ids = new Set(tools.map(({ id, name }) => id ?? name));
  for (const [at, { query, relevant }] of queries.entries()) {
    const where = `toolSearchReport: queries[${at}]`;
    if (typeof query !== 'string' || query.trim() === '')
      throw new InvalidArgumentError(`${where} must have a query, a non-blank text, not ${describe(query)}`);
    if (!Array.isArray(relevant) || relevant.length === 0)
      throw new InvalidArgumentError(`${where} must have relevant, a list of one tool or more, not ${describe(relevant)}`);
    const unknown = (relevant as LabelledQuery['relevant']).flatMap(alternativesOf).find((id) => !ids.has(id));
    if (unknown !== undefined) throw new InvalidArgumentError(`${where} wants ${describe(unknown)}, which is not among the tools`);
  }
}

function print({ tools, queries, recall, meanReciprocalRank, tokens, time, missed }: Omit<ToolSearchReport, 'toString'>): string {
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  return [
    `${tools} tools, ${queries} queries`,
    `recall@1 ${percent(recall.at1)}, recall@5 ${percent(recall.at5)}, recall@10 ${percent(recall.at10)}, MRR ${meanReciprocalRank.toFixed(3)}`,
    `tokens of definitions: ${tokens.all} for all tools, ${Math.round(tokens.withSearch)} with search, ${tokens.saved < 0 ? `${percent(-tokens.saved)} more` : `${percent(tokens.saved)} saved`}; it pays from ${tokens.breakEvenTools} tools on`,
    `time: index ${time.index.toFixed(1)} ms; search median ${time.median.toFixed(3)} ms, p99 ${time.p99.toFixed(3)} ms, longest ${time.longest.toFixed(3)} ms`,
    ...(missed.length > 0 ? [`nothing found in the first ${DEPTH} for ${missed.length} queries, such as: ${missed[0]?.query}`] : []),
  ].join('\n');
}
