import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { EmbeddingModel } from '../src/stores/vectors/embedding-model.js';
import { AdvisorChainError, InvalidArgumentError } from '../src/core/errors/errors.js';
import { isPlainObject, nonEmptyString, type JsonObject } from '../src/core/internal/options.js';
import { reasonOf } from '../src/core/errors/describe.js';
import { HybridToolIndex } from '../src/stores/tool-indexes/hybrid-tool-index.js';
import { KeywordToolIndex } from '../src/stores/tool-indexes/keyword-tool-index.js';
import { RegexToolIndex } from '../src/stores/tool-indexes/regex-tool-index.js';
import { VectorToolIndex } from '../src/stores/tool-indexes/vector-tool-index.js';
import type { ToolIndex } from '../src/stores/tool-indexes/tool-index.js';
import { formatDifference } from './tool-search-format.js';
import { compareSearchReports, type LabelledQuery } from './tool-search-quality.js';
import {
  toolSearchReport,
  type CatalogueTool,
  type ToolSearchReport,
  type ToolSearchReportOptions,
} from './tool-search-report.js';

const USAGE = `npm run bench:tool-search-report -- --tools tools.json --queries queries.jsonl [--index keyword,regex] [--embedding-model model.js] [--max-results 5]

  --tools        tools as JSON or JSON lines, in the format of MCP servers or of OpenAI: { name, description, inputSchema }
  --queries      queries as JSON or JSON lines: { query, relevant }; relevant lists names of tools, or their ids
  --index        indexes to measure: keyword (default), regex, vector, hybrid (keyword and vector); several by commas are
                 compared with the first on the same queries
  --embedding-model  module whose default export is an EmbeddingModel, for vector and hybrid
  --max-results  maximum number of tools of a search, for the count of tokens

Means have 95 % confidence intervals (paired bootstrap). Tokens are counted by the package gpt-tokenizer if it is installed, otherwise estimated.`;

const OPTIONS = {
  tools: { type: 'string' },
  queries: { type: 'string' },
  index: { type: 'string', default: 'keyword' },
  'embedding-model': { type: 'string' },
  'max-results': { type: 'string', default: '5' },
} as const;

/**
 * Runs `npm run bench:tool-search-report` and returns its output.
 * @throws {@link InvalidArgumentError} if an argument or a file is invalid
 */
export async function reportCommand(args: readonly string[]): Promise<string> {
  const { values } = attempt('', () => parseArgs({ args: [...args], options: OPTIONS }));
  const { tools, queries, 'max-results': maxResults } = values;
  if (tools === undefined || queries === undefined)
    throw new InvalidArgumentError('give --tools and --queries');
  if (!/^[1-9]\d*$/.test(maxResults))
    throw new InvalidArgumentError(`--max-results must be an integer >= 1, not ${maxResults}`);
  const indexes = await createIndexes(values.index.split(','), values['embedding-model']);
  const tokenizer = await loadTokenizer();
  const options = {
    tools: readList(tools).map(toCatalogueTool),
    // toolSearchReport checks the queries
    queries: readList(queries) as readonly object[] as readonly LabelledQuery[],
    maxResults: Number(maxResults),
    ...(tokenizer && { countTokens: (text: string) => tokenizer.encode(text).length }),
  };
  const note = tokenizer
    ? 'tokens counted by gpt-tokenizer'
    : 'tokens estimated (four characters each); install gpt-tokenizer to count them';
  return `${await reportOf(indexes, options)}\n${note}`;
}

type Indexes = ReadonlyMap<string, ToolIndex>;

/** The reports of all indexes, and what changes if one replaces the first. */
async function reportOf(
  indexes: Indexes,
  options: Omit<ToolSearchReportOptions, 'toolIndex'>,
): Promise<string> {
  const reports = new Map<string, ToolSearchReport>();
  for (const [kind, toolIndex] of indexes)
    reports.set(kind, await toolSearchReport({ ...options, toolIndex }));
  const [[firstKind, first]] = [...reports] as [[string, ToolSearchReport]];
  if (reports.size === 1) return String(first);
  const texts = [...reports].map(([kind, report]) => `${kind}: ${String(report)}\n`);
  const others = [...reports].slice(1);
  const differences = others.map(([kind, report]) => {
    const difference = formatDifference(compareSearchReports(first, report));
    return `${kind} instead of ${firstKind}: ${difference}`;
  });
  return [...texts, ...differences].join('\n');
}

async function createIndexes(
  kinds: readonly string[],
  modulePath: string | undefined,
): Promise<Indexes> {
  const vector = async (): Promise<ToolIndex> => {
    if (modulePath === undefined)
      throw new InvalidArgumentError('--index vector and hybrid need --embedding-model');
    return new VectorToolIndex({ embeddingModel: await loadEmbeddingModel(modulePath) });
  };
  const factories = new Map<string, () => ToolIndex | Promise<ToolIndex>>([
    ['keyword', () => new KeywordToolIndex()],
    ['regex', () => new RegexToolIndex()],
    ['vector', vector],
    [
      'hybrid',
      async () => new HybridToolIndex({ indexes: [new KeywordToolIndex(), await vector()] }),
    ],
  ]);
  const indexes = new Map<string, ToolIndex>();
  for (const kind of kinds) {
    const create = factories.get(kind);
    const known = [...factories.keys()].join(', ');
    if (!create) throw new InvalidArgumentError(`--index must be some of ${known}, not ${kind}`);
    indexes.set(kind, await create());
  }
  return indexes;
}

/** Loads the default export of a module of the user. */
async function loadEmbeddingModel(path: string): Promise<EmbeddingModel> {
  const url = pathToFileURL(resolve(path)).href;
  const module = await (import(url) as Promise<{ readonly default?: EmbeddingModel }>).catch(
    (cause: unknown) => {
      throw new InvalidArgumentError(`${path} cannot be loaded: ${reasonOf(cause)}`, { cause });
    },
  );
  if (typeof module.default?.embed === 'function') return module.default;
  throw new InvalidArgumentError(`${path} must have an EmbeddingModel as its default export`);
}

async function loadTokenizer(): Promise<{ encode(text: string): readonly number[] } | undefined> {
  try {
    return await import('gpt-tokenizer');
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Reads the objects of a file: a JSON array, an object with `tools` or `queries`, or JSON lines. */
function readList(path: string): readonly JsonObject[] {
  const text = attempt(`${path} cannot be read: `, () => readFileSync(path, 'utf8'));
  const value = parse(text.replace(/^\ufeff/, ''), path);
  const list = isPlainObject(value) ? (value['tools'] ?? value['queries'] ?? value) : value;
  return (Array.isArray(list) ? list : [list]).map((item: unknown, at) => {
    if (isPlainObject(item)) return item;
    throw new InvalidArgumentError(`${path}: item ${at + 1} is not a JSON object`);
  });
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.split('\n').flatMap((line, at): unknown => {
      if (line.trim() === '') return [];
      return [attempt(`${path}, line ${at + 1}: not JSON: `, () => JSON.parse(line) as unknown)];
    });
  }
}

/** @throws {@link InvalidArgumentError} with the message of the failed operation */
function attempt<T>(where: string, operation: () => T): T {
  try {
    return operation();
  } catch (cause) {
    throw new InvalidArgumentError(`${where}${(cause as Error).message}`, { cause });
  }
}

/** Reads a tool in the format of MCP, OpenAI or Anthropic. */
function toCatalogueTool(item: JsonObject, at: number): CatalogueTool {
  const tool = isPlainObject(item['function']) ? item['function'] : item;
  const { id = item['id'], description, category } = tool;
  const name = nonEmptyString(tool['name']);
  const inputSchema = tool['inputSchema'] ?? tool['input_schema'] ?? tool['parameters'];
  if (name === undefined) throw new InvalidArgumentError(`tool ${at + 1} has no name`);
  return {
    name,
    ...(typeof id === 'string' && { id }),
    ...(typeof description === 'string' && { description }),
    ...(isPlainObject(inputSchema) && { inputSchema }),
    ...(typeof category === 'string' && { category }),
  };
}

async function main(args: readonly string[]): Promise<void> {
  if (args.length === 0 || args.includes('--help')) return console.log(USAGE);
  try {
    console.log(await reportCommand(args));
  } catch (error) {
    if (!AdvisorChainError.isInstance(error)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
