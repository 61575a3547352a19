import { readFileSync } from 'node:fs';
import { InvalidArgumentError, type CatalogueTool, type LabelledQuery } from '../index.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The objects of a file: a JSON array, an object with a list (`{ "tools": [...] }`), or JSON lines.
 * @throws {@link InvalidArgumentError} if it cannot be read
 */
export function readList(path: string): readonly Fields[] {
  const list = listIn(parse(read(path), path));
  const at = list.findIndex((item) => !isFields(item));
  if (at >= 0) throw new InvalidArgumentError(`${path}: item ${at + 1} is not a JSON object`);
  return list as readonly Fields[];
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (cause) {
    throw new InvalidArgumentError(`${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [parseLine(line, `${path}, line ${at + 1}`)]));
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
  if (!isFields(value) || 'name' in value || 'query' in value || 'function' in value) return [value];
  const named = value['tools'] ?? value['queries'];
  const lists = Array.isArray(named) ? [named] : Object.values(value).filter((field) => Array.isArray(field));
  return lists.length === 1 ? (lists[0] as readonly unknown[]) : [value];
}

/** A tool as MCP servers and OpenAI publish it. @throws {@link InvalidArgumentError} if it has no name */
export function toCatalogueTool(item: Fields, at: number): CatalogueTool {
  const tool = isFields(item['function']) ? item['function'] : item;
  const { id = item['id'], name, description, inputSchema = tool['input_schema'] ?? tool['parameters'], category } = tool;
  if (typeof name !== 'string' || name === '') throw new InvalidArgumentError(`tool ${at + 1} has no name`);
  return {
    name,
    ...(typeof id === 'string' && { id }),
    ...(typeof description === 'string' && { description }),
    ...(isFields(inputSchema) && { inputSchema }),
    ...(typeof category === 'string' && { category }),
  };
}

/** What is wrong with a query, the report says. */
export function toLabelledQuery({ query, relevant }: Fields): LabelledQuery {
  return { query, relevant } as LabelledQuery;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
