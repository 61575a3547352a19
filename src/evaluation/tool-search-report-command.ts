import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { InvalidArgumentError } from '../errors.js';
import { isPlainObject, nonEmptyString, type JsonObject } from '../internal/options.js';
import { KeywordToolIndex } from '../tool-indexes/keyword-tool-index.js';
import { RegexToolIndex } from '../tool-indexes/regex-tool-index.js';
import { toolSearchReport, type CatalogueTool, type LabelledQuery } from './tool-search-report.js';

const OPTIONS = {
  tools: { type: 'string' },
  queries: { type: 'string' },
  index: { type: 'string', default: 'keyword' },
  'max-results': { type: 'string', default: '5' },
} as const;

/**
 * Runs `advisor-chain tool-search-report` and returns its output.
 * @throws {@link InvalidArgumentError} if an argument or a file is invalid
 */
export async function reportCommand(args: readonly string[]): Promise<string> {
  const { values } = attempt('', () => parseArgs({ args: [...args], options: OPTIONS }));
  const { tools, queries, index, 'max-results': maxResults } = values;
  if (tools === undefined || queries === undefined)
    throw new InvalidArgumentError('give --tools and --queries');
  if (index !== 'keyword' && index !== 'regex')
    throw new InvalidArgumentError(`--index must be keyword or regex, not ${index}`);
  if (!/^[1-9]\d*$/.test(maxResults))
    throw new InvalidArgumentError(`--max-results must be an integer >= 1, not ${maxResults}`);
  const tokenizer = await loadTokenizer();
  const report = await toolSearchReport({
    tools: readList(tools).map(toCatalogueTool),
    // toolSearchReport checks the queries
    queries: readList(queries) as readonly object[] as readonly LabelledQuery[],
    toolIndex: index === 'keyword' ? new KeywordToolIndex() : new RegexToolIndex(),
    maxResults: Number(maxResults),
    ...(tokenizer && { countTokens: (text: string) => tokenizer.encode(text).length }),
  });
  const note = tokenizer
    ? 'tokens counted by gpt-tokenizer'
    : 'tokens estimated (four characters each); install gpt-tokenizer to count them';
  return `${String(report)}\n${note}`;
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
