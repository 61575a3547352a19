import { parseArgs } from 'node:util';
import { InvalidArgumentError, KeywordToolIndex, RegexToolIndex, toolSearchReport, type ToolIndex } from '../index.js';
import { readList, toCatalogueTool, toLabelledQuery } from './read-list.js';

const INDEXES: Readonly<Record<string, () => ToolIndex>> = {
  keyword: () => new KeywordToolIndex(),
  regex: () => new RegexToolIndex(),
};

/**
 * What `tool-search-report` prints.
 * @throws {@link InvalidArgumentError} if an argument or a file cannot be used
 */
export async function reportCommand(args: readonly string[]): Promise<string> {
  const { tools, queries, index, maxResults } = readArguments(args);
  const makeIndex = Object.hasOwn(INDEXES, index) ? INDEXES[index] : undefined;
  if (!makeIndex) throw new InvalidArgumentError(`--index must be ${Object.keys(INDEXES).join(' or ')}, not ${index}`);
  if (!/^[1-9]\d*$/.test(maxResults))
    throw new InvalidArgumentError(`--max-results must be a whole number of 1 or more, not ${maxResults}`);
  const tokenizer = await loadTokenizer();
  const report = await toolSearchReport({
    tools: readList(tools).map(toCatalogueTool),
    queries: readList(queries).map(toLabelledQuery),
    toolIndex: makeIndex(),
    maxResults: Number(maxResults),
    ...(tokenizer && { countTokens: (text: string) => tokenizer.encode(text).length }),
  });
  const note = tokenizer
    ? 'tokens counted by gpt-tokenizer'
    : 'tokens estimated (four characters each); install gpt-tokenizer to count them';
  return `${String(report)}\n${note}`;
}

function readArguments(args: readonly string[]): { tools: string; queries: string; index: string; maxResults: string } {
  const text = { type: 'string' } as const;
  const options = { tools: text, queries: text, index: { ...text, default: 'keyword' }, 'max-results': { ...text, default: '5' } };
  try {
    const { tools, queries, index, 'max-results': maxResults } = parseArgs({ args: [...args], options }).values;
    if (tools === undefined || queries === undefined) throw new InvalidArgumentError('give --tools and --queries');
    return { tools, queries, index, maxResults };
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    throw new InvalidArgumentError((error as Error).message, { cause: error });
  }
}

interface Tokenizer {
  encode(text: string): readonly number[];
}

async function loadTokenizer(): Promise<Tokenizer | undefined> {
  try {
    return await import('gpt-tokenizer');
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
