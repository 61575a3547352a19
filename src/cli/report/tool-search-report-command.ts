import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from '../../core/errors/argument-errors.js';
import { isPlainObject, nonEmptyString, type JsonObject } from '../../core/internal/options.js';
import type * as Chain from '../../index.js';
import type { ToolIndex } from '../../stores/tool-indexes/tool-index.js';
import type { EmbeddingModel } from '../../stores/vectors/embedding-model.js';
import { integerOf } from '../arguments.js';
import { command } from '../command.js';
import { loadModule } from '../load-module.js';
import type { Terminal } from '../terminal.js';
import { formatDifference } from './tool-search-format.js';
import { compareSearchReports, type LabelledQuery } from './tool-search-quality.js';
import {
  toolSearchReport,
  type CatalogueTool,
  type ToolSearchReport,
  type ToolSearchReportOptions,
} from './tool-search-report.js';

export const toolSearchReportCommand = command({
  name: 'tool-search-report',
  description:
    'Measure how well tool search finds the tools of a catalogue, and the tokens that it saves',
  args: {
    tools: {
      type: 'string',
      description: 'Tools as JSON or JSON lines, in the format of MCP servers or of OpenAI',
      valueHint: 'file',
      required: true,
    },
    queries: {
      type: 'string',
      description:
        'Queries as JSON or JSON lines: { query, relevant }; relevant lists names or ids of tools',
      valueHint: 'file',
      required: true,
    },
    index: {
      type: 'string',
      description:
        'Indexes by commas: keyword, regex, vector, hybrid; others are compared with the first',
      default: 'keyword',
      valueHint: 'names',
    },
    'embedding-model': {
      type: 'string',
      description: 'Module whose default export is an EmbeddingModel, for vector and hybrid',
      valueHint: 'module',
    },
    'max-results': {
      type: 'string',
      description: 'Maximum number of tools of a search, for the count of tokens',
      default: '5',
      valueHint: 'number',
    },
  },
  examples: [
    'advisor-chain tool-search-report --tools tools.json --queries queries.jsonl --index keyword,regex',
  ],
  notes:
    'Means have 95 % confidence intervals (paired bootstrap). Tokens are counted by gpt-tokenizer if it is installed, else estimated.',
  async run({ args, terminal }) {
    const maxResults = integerOf('--max-results', args['max-results'], 1);
    const chain = await import('../../index.js');
    const indexes = await createIndexes(
      args.index.split(','),
      async () =>
        new chain.VectorToolIndex({
          embeddingModel: await loadEmbeddingModel(args['embedding-model'], terminal),
        }),
      chain,
    );
    const tokenizer = await loadTokenizer();
    const pathOf = (file: string): string => resolve(terminal.cwd, file);
    const options = {
      tools: readList(pathOf(args.tools), args.tools).map(toCatalogueTool),
      // toolSearchReport checks the queries
      queries: readList(
        pathOf(args.queries),
        args.queries,
      ) as readonly object[] as readonly LabelledQuery[],
      maxResults,
      ...(tokenizer && { countTokens: (text: string) => tokenizer.encode(text).length }),
    };
    const note = tokenizer
      ? 'tokens counted by gpt-tokenizer'
      : 'tokens estimated (four characters each); install gpt-tokenizer to count them';
    const report = await reportOf(indexes, options, (kind) =>
      terminal.progress(`searching by ${kind}`),
    );
    terminal.print(`${report}\n${note}`);
  },
});

type Indexes = ReadonlyMap<string, ToolIndex>;

/** The reports of all indexes, and what changes if one replaces the first. */
async function reportOf(
  indexes: Indexes,
  options: Omit<ToolSearchReportOptions, 'toolIndex'>,
  onStart: (kind: string) => void,
): Promise<string> {
  const reports = new Map<string, ToolSearchReport>();
  for (const [kind, toolIndex] of indexes) {
    onStart(kind);
    reports.set(kind, await toolSearchReport({ ...options, toolIndex }));
  }
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
  vector: () => Promise<ToolIndex>,
  { KeywordToolIndex, RegexToolIndex, HybridToolIndex }: typeof Chain,
): Promise<Indexes> {
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
async function loadEmbeddingModel(
  path: string | undefined,
  terminal: Terminal,
): Promise<EmbeddingModel> {
  if (path === undefined)
    throw new InvalidArgumentError('--index vector and hybrid need --embedding-model');
  const { default: model } = await loadModule(path, terminal);
  if (typeof (model as Partial<EmbeddingModel> | undefined)?.embed === 'function')
    return model as EmbeddingModel;
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
function readList(file: string, path: string): readonly JsonObject[] {
  const text = attempt(`${path} cannot be read: `, () => readFileSync(file, 'utf8'));
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
