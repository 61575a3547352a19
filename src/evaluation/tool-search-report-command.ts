import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { InvalidArgumentError } from '../errors.js';
import { isPlainObject } from '../internal/options.js';
import { KeywordToolIndex } from '../tool-indexes/keyword-tool-index.js';
import { RegexToolIndex } from '../tool-indexes/regex-tool-index.js';
import type { ToolIndex } from '../tool-search/tool-index.js';
import { toolSearchReport, type CatalogueTool, type LabelledQuery } from './tool-search-report.js';

type Fields = Readonly<Record<string, unknown>>;

const INDEXES: ReadonlyMap<string, () => ToolIndex> = new Map<string, () => ToolIndex>([
  ['keyword', () => new KeywordToolIndex()],
  ['regex', () => new RegexToolIndex()],
]);

/**
 * Runs `advisor-chain tool-search-report` and returns its output.
 * @throws {@link InvalidArgumentError} if an argument or a file is invalid
 */
export async function reportCommand(args: readonly string[]): Promise<string> {
  const { tools, queries, index, maxResults } = readArguments(args);
  const createIndex = INDEXES.get(index);
  if (!createIndex)
    throw new InvalidArgumentError(
      `--index must be ${[...INDEXES.keys()].join(' or ')}, not ${index}`,
    );
  if (!/^[1-9]\d*$/.test(maxResults))
    throw new InvalidArgumentError(`--max-results must be an integer >= 1, not ${maxResults}`);
  const tokenizer = await loadTokenizer();
  const report = await toolSearchReport({
    tools: readList(tools).map(toCatalogueTool),
    // toolSearchReport checks the queries
    queries: readList(queries) as readonly object[] as readonly LabelledQuery[],
    toolIndex: createIndex(),
    maxResults: Number(maxResults),
    ...(tokenizer && { countTokens: (text: string) => tokenizer.encode(text).length }),
  });
  const note = tokenizer
    ? 'tokens counted by gpt-tokenizer'
    : 'tokens estimated (four characters each); install gpt-tokenizer to count them';
  return `${String(report)}\n${note}`;
}

function readArguments(args: readonly string[]): {
  readonly tools: string;
  readonly queries: string;
  readonly index: string;
  readonly maxResults: string;
} {
  const text = { type: 'string' } as const;
  const options = { tools: text, queries: text, index: text, 'max-results': text };
  try {
    const { values } = parseArgs({ args: [...args], options });
    const { tools, queries, index = 'keyword', 'max-results': maxResults = '5' } = values;
    if (tools !== undefined && queries !== undefined) return { tools, queries, index, maxResults };
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message, { cause: error });
  }
  throw new InvalidArgumentError('give --tools and --queries');
}

async function loadTokenizer(): Promise<{ encode(text: string): readonly number[] } | undefined> {
  try {
    return await import('gpt-tokenizer');
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/**
 * Reads the objects of a file: a JSON array, an object with a list such as `{ "tools": [...] }`, or
 * JSON lines.
 */
function readList(path: string): readonly Fields[] {
  const list = listIn(parse(read(path), path));
  return list.map((item, at) => {
    if (isPlainObject(item)) return item;
    throw new InvalidArgumentError(`${path}: item ${at + 1} is not a JSON object`);
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (cause) {
    const { message } = cause as Error;
    throw new InvalidArgumentError(`${path} cannot be read: ${message}`, { cause });
  }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.split('\n').map((line, at) => ({ line, where: `${path}, line ${at + 1}` }));
    return lines
      .filter(({ line }) => line.trim() !== '')
      .map(({ line, where }) => parseLine(line, where));
  }
}

function parseLine(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new InvalidArgumentError(`${where}: not JSON: ${(cause as Error).message}`, { cause });
  }
}

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const isItem = (fields: Fields) => 'name' in fields || 'query' in fields || 'function' in fields;
  if (!isPlainObject(value) || isItem(value)) return [value];
  const named = value['tools'] ?? value['queries'];
  const lists = Array.isArray(named) ? [named] : Object.values(value).filter(Array.isArray);
  return lists.length === 1 ? (lists[0] as readonly unknown[]) : [value];
}

/** Reads a tool in the format of MCP, OpenAI or Anthropic. */
function toCatalogueTool(item: Fields, at: number): CatalogueTool {
  const tool = isPlainObject(item['function']) ? item['function'] : item;
  const { id = item['id'], name, description, category } = tool;
  const inputSchema = tool['inputSchema'] ?? tool['input_schema'] ?? tool['parameters'];
  if (typeof name !== 'string' || name === '')
    throw new InvalidArgumentError(`tool ${at + 1} has no name`);
  return {
    name,
    ...(typeof id === 'string' && { id }),
    ...(typeof description === 'string' && { description }),
    ...(isPlainObject(inputSchema) && { inputSchema }),
    ...(typeof category === 'string' && { category }),
  };
}
